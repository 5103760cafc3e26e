// Moves elastic objects out of half-spaces, a little behind which velocity-level steps may leave them.
#pragma once

#include "gpu/model/model.h"
#include "gpu/model/state.h"

namespace stickslip {

struct LiftRule {
  double gap;      // [m] height over the half-space to which surfaces are moved
  double below;    // [m] surfaces of deformable objects are moved below this height; at 0 or less always
  double deepest;  // [m] what is farther behind stays
  /// Nodes stay where the scene puts them at its start, as an error of the scene.
  bool leave_start;
};

/// Moves nodes of deformable solids one by one, and affine bodies and solids in lattices as a whole. What a
/// script holds in a step of `dt` [s] from the state's time stays. Returns the largest displacement [m].
double lift_out_of_half_spaces(const Model& model, const LiftRule& rule, double dt, State& state);

}  // namespace stickslip
