// Rotations from rotation vectors (axis times angle), on the host.
#pragma once

#include <cmath>
#include <numbers>

#include "gpu/math/mat.h"

namespace stickslip {

/// The rotation by |w| radians about w (Rodrigues' formula); the identity for w = 0.
inline Mat<double, 3> rotation_matrix(const Vec<double, 3>& w) {
  const double angle = norm(w);
  const Vec<double, 3> a = normalized(w);
  const Mat<double, 3> skew{{0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0}};
  return Mat<double, 3>::identity() + std::sin(angle) * skew + (1 - std::cos(angle)) * (skew * skew);
}

inline Mat<double, 3> rotation_matrix_degrees(const Vec<double, 3>& w) {
  return rotation_matrix((std::numbers::pi / 180) * w);
}

}  // namespace stickslip
