// From the nodes of a triangle to F = D_s D_m^-1 (3 x 2) and back: forces and blocks of its corners.
#pragma once

#include "gpu/energy/corner_values.h"
#include "gpu/energy/sheet.h"

namespace stickslip {

/// Rest-space gradients of the three shape functions: rows of D_m^-1, and minus their sum first.
struct SheetShape {
  Vec2 g[3];
  SS_HD explicit SheetShape(const Mat<Real, 2>& inverse_rest) {
    g[1] = inverse_rest.row(0);
    g[2] = inverse_rest.row(1);
    g[0] = -(g[1] + g[2]);
  }
};

SS_HD inline Mat<Real, 3, 2> sheet_deformation(const Vec3& x0, const Vec3& x1, const Vec3& x2,
                                               const Mat<Real, 2>& inverse_rest) {
  return Mat<Real, 3, 2>::from_columns({x1 - x0, x2 - x0}) * inverse_rest;
}

/// Adds weight * P g_a to each corner a.
SS_HD inline void add_sheet_gradients(const Mat<Real, 3, 2>& piola, const SheetShape& shape, Real weight,
                                      CornerVectors& corners) {
  for (int a = 0; a < 3; ++a) corners[a] += weight * (piola * shape.g[a]);
}

/// Adds the lower blocks of weight * dP/dF: block (a, b) is
///   sum_ik r_i r_k' sum_jl plane_(ij)(kl) g_a,j g_b,l + n n' (g_a . normal g_b).
/// Blocks of corner 0 follow, because a translation changes nothing.
SS_HD inline void add_sheet_blocks(const SheetDerivative& d, const SheetFrame& frame, const SheetShape& shape,
                                   Real weight, CornerBlocks& blocks) {
  const Mat3 axes = Mat3::from_columns({frame.r[0], frame.r[1], frame.n});
  Mat3 to_zero[3] = {Mat3::zero(), Mat3::zero(), Mat3::zero()};
  for (int a = 1; a < 3; ++a)
    for (int b = 1; b <= a; ++b) {
      const Vec2 &ga = shape.g[a], &gb = shape.g[b];
      Mat3 m = Mat3::zero();
      for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k)
          for (int j = 0; j < 2; ++j)
            for (int l = 0; l < 2; ++l) m(i, k) += d.plane(2 * i + j, 2 * k + l) * ga[j] * gb[l];
      m(2, 2) = dot(ga, d.normal * gb);
      const Mat3 block = axes * m * (weight * axes.transposed());
      blocks(a, b) += block;
      to_zero[a] -= block;
      if (a != b) to_zero[b] -= block.transposed();
    }
  for (int a = 1; a < 3; ++a) {
    blocks(a, 0) += to_zero[a];
    blocks(0, 0) -= to_zero[a];
  }
}

}  // namespace stickslip
