// What a contact solver's per-contact value is, for the records that a viewer shows.
#pragma once

#include <cstdint>

namespace stickslip {

/// What ContactRecord::step_normal and step_tangent are: a property of the solver, not of the physics.
enum class StepKind : std::uint8_t {
  none,       // the solver has no such value, or does not report it
  r_factor,   // [kg] r of a projected step, r_N <- proj(r_N - r u_N)
  rho,        // [kg] weight of the velocity in a complementarity function or an augmented Lagrangian
  penalty,    // [1/kg] R of ADMM, weight of the difference between its two copies of an impulse
  stiffness,  // [N/m] sigma of a barrier; of a cubic one, kappa at the gap
};

}  // namespace stickslip
