// Surfaces that go through each other where the solver changes to barrier steps are moved apart.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "gpu/model/state.h"
#include "gpu/params/params.h"
#include "gpu/step/recent_states.cuh"
#include "gpu/step/stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Puts a state into `next`, a barrier stepper with the settings `params`, whose surfaces are apart and which
/// is near to `now`. It comes from the latest state in `recent` without intersections: from there, one
/// barrier step without forces and friction goes towards the positions of `now`, as far as surfaces permit.
/// So time, velocities and momentum are those of `now`. Elasticity takes part, so that what is held back
/// draws its neighbours along. Returns the note for the user; none: no recent state leads there. Throws
/// StepInterrupted while *cancel (may be null) is true.
std::optional<std::string> move_apart(Context& ctx, const Model& model, const RecentStates& recent,
                                      const State& now, const Params& params, Stepper& next,
                                      const std::atomic<bool>* cancel);

}  // namespace stickslip::STICKSLIP_BACKEND
