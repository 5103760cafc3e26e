// The rotation nearest to a matrix.
#pragma once

#include <cmath>

#include "gpu/math/mat.h"

namespace stickslip {

/// The orthogonal factor of F = R S with S symmetric: R <- (R + R^-T) / 2, from F on, which is Newton's
/// method for R'R = I. It converges quadratically where det F > 0, which the caller ensures, and R is then
/// a rotation.
template <class T>
SS_HD inline Mat<T, 3> polar_rotation(const Mat<T, 3>& f) {
  Mat<T, 3> r = f;
  for (int k = 0; k < 60; ++k) {
    const Mat<T, 3> next = T(0.5) * (r + inverse(r).transposed());
    Mat<T, 3> change = next;
    change -= r;
    r = next;
    if (!(dot(change, change) > T(1e-28))) break;
  }
  return r;
}

}  // namespace stickslip
