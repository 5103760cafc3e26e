// Orthonormal tangents of a contact normal.
#pragma once

#include <limits>

#include "gpu/math/vec.h"

namespace stickslip {

template <class T>
struct TangentBasis {
  Vec<T, 3> t1, t2;
};

/// Orthonormal with the unit vector n, det [t1 n t2] = 1: the smallest rotation that takes +y (up) to n,
/// applied to x and z. Continuous but at n = -y, as every such field has a jump somewhere.
template <class T>
SS_HD constexpr TangentBasis<T> tangent_basis(const Vec<T, 3>& n) {
  const T horizontal2 = n[0] * n[0] + n[2] * n[2];
  // 1/(1 + n_y), which cancels near -y; there 1 + n_y = horizontal2/(1 - n_y).
  if (n[1] < T(0) && horizontal2 < std::numeric_limits<T>::min())
    return {{T(1), T(0), T(0)}, {T(0), T(0), T(-1)}};
  const T a = n[1] < T(0) ? (T(1) - n[1]) / horizontal2 : T(1) / (T(1) + n[1]);
  const T b = -a * n[0] * n[2];
  return {{T(1) - a * n[0] * n[0], -n[0], b}, {b, -n[2], T(1) - a * n[2] * n[2]}};
}

}  // namespace stickslip
