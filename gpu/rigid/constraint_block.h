// One block of rows between two bodies, as contacts and joints give it to the contact problem.
#pragma once

#include <cstdint>

#include "gpu/law/contact_law.h"

namespace stickslip {

/// u = H_a v_a + H_b v_b + w with v = (linear, angular), world axes about the centre of mass; D rows, normal
/// first (dfcp/contact_problem.h). A row that is not used is zero with a compliance of 1: u = r = 0 there.
template <int D>
struct ConstraintBlock {
  std::int32_t body[2];  // -1: what never moves; its rows are zero
  Vec<double, 6> jacobian[2][D];
  Vec<double, D> w;           // [m/s]
  Vec<double, D> compliance;  // [m/s per N s], diagonal of E
  ContactLaw<D> law;
};

}  // namespace stickslip
