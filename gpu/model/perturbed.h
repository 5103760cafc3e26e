// Small random changes of a state, to see whether a run amplifies them.
#pragma once

#include <cstdint>

#include "gpu/model/state.h"

namespace stickslip {

inline constexpr double kPerturbation = 1e-6;  // [m/s]

/// `state` with each component of the velocities of nodes and bodies changed by a random amount in
/// [-size, size) [m/s]. Positions stay, so that no bodies come to overlap. The same seed gives the same
/// change on every machine; seed 0: unchanged.
State perturbed(State state, std::uint64_t seed, double size = kPerturbation);

}  // namespace stickslip
