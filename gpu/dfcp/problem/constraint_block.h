// One block of constraint rows between two rigid bodies: the contacts and joints of a running scene pass
// it to the contact problem.
#pragma once

#include <cstdint>

#include "gpu/law/contact_law.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// u = H_a v_a + H_b v_b + w with v = (linear, angular), world axes about the centre of mass; D rows, normal
/// first (dfcp/contact_problem.h). An unused row is zero with a compliance of 1: u = r = 0 there.
template <int D>
struct ConstraintBlock {
  std::int32_t body[2];  // -1: immovable, its rows are zero
  Vec<double, 6> jacobian[2][D];
  Vec<double, D> w;           // [m/s]
  Vec<double, D> compliance;  // [m/s per N s], diagonal of E
  ContactLaw<D> law;
};

/// A^-1 of a rigid body in world axes; all zero for an immovable body.
struct BodyInverse {
  double mass;             // 1 / m [1/kg]
  Vec<double, 6> inertia;  // I^-1 as xx, yy, zz, xy, xz, yz [1/(kg m^2)]

  SS_HD Vec<double, 3> turn(const Vec<double, 3>& t) const {
    return {inertia[0] * t[0] + inertia[3] * t[1] + inertia[4] * t[2],
            inertia[3] * t[0] + inertia[1] * t[1] + inertia[5] * t[2],
            inertia[4] * t[0] + inertia[5] * t[1] + inertia[2] * t[2]};
  }
  /// I^-1 as a matrix.
  SS_HD Mat<double, 3> inertia_matrix() const {
    Mat<double, 3> m{};
    for (int i = 0; i < 3; ++i) m(i, i) = inertia[i];
    m(0, 1) = m(1, 0) = inertia[3];
    m(0, 2) = m(2, 0) = inertia[4];
    m(1, 2) = m(2, 1) = inertia[5];
    return m;
  }
  /// A^-1 times a wrench (force, torque) or an impulse.
  SS_HD Vec<double, 6> times(const Vec<double, 6>& f) const {
    const Vec<double, 3> t = turn({f[3], f[4], f[5]});
    return {mass * f[0], mass * f[1], mass * f[2], t[0], t[1], t[2]};
  }
};

}  // namespace stickslip
