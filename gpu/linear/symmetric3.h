// Symmetric 3x3 matrices by their six entries: what a preconditioner's block costs in memory traffic.
#pragma once

#include "gpu/math/mat.h"

namespace stickslip {

struct Symmetric3 {
  Real xx, xy, yy, xz, yz, zz;

  SS_HD friend constexpr Vec3 operator*(const Symmetric3& a, const Vec3& x) {
    return {a.xx * x[0] + a.xy * x[1] + a.xz * x[2], a.xy * x[0] + a.yy * x[1] + a.yz * x[2],
            a.xz * x[0] + a.yz * x[1] + a.zz * x[2]};
  }
};

/// Inverse of a symmetric positive definite block through its LDL' factors (only the lower triangle is read),
/// which loses less than cofactors where a contact makes one direction 1e10 times stiffer than the others.
/// Where a pivot is not positive to working precision: trace^-1 times the identity, and zero for a block
/// without a positive trace.
SS_HD inline Symmetric3 inverse_spd(const Mat3& a) {
  const Real scale = a(0, 0) + a(1, 1) + a(2, 2);
  if (!(scale > Real(0))) return {0, 0, 0, 0, 0, 0};
  const Real inverse_scale = Real(1) / scale;
  constexpr Real epsilon = sizeof(Real) == 8 ? Real(1e-15) : Real(1e-6);
  const Symmetric3 fallback{inverse_scale, 0, inverse_scale, 0, 0, inverse_scale};
  const Real smallest = epsilon * scale;

  const Real d0 = a(0, 0);
  if (!(d0 > smallest)) return fallback;
  const Real l10 = a(1, 0) / d0, l20 = a(2, 0) / d0;
  const Real d1 = a(1, 1) - l10 * a(1, 0);
  if (!(d1 > smallest)) return fallback;
  const Real s21 = a(2, 1) - l20 * a(1, 0);
  const Real l21 = s21 / d1;
  const Real d2 = a(2, 2) - l20 * a(2, 0) - l21 * s21;
  if (!(d2 > smallest)) return fallback;

  // A^-1 = L^-T D^-1 L^-1 with L^-1 = [1; -l10 1; m -l21 1].
  const Real e0 = Real(1) / d0, e1 = Real(1) / d1, e2 = Real(1) / d2;
  const Real m = l10 * l21 - l20;
  return {
      e0 + l10 * l10 * e1 + m * m * e2, -l10 * e1 - m * l21 * e2, e1 + l21 * l21 * e2, m * e2, -l21 * e2, e2};
}

}  // namespace stickslip
