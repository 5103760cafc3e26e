// From a tet's corners to F = D_s D_m^-1 and back: corner forces and corner blocks of a linear tetrahedron.
#pragma once

#include "gpu/energy/corner_values.h"
#include "gpu/energy/elasticity.h"

namespace stickslip {

/// [x1 - x0, x2 - x0, x3 - x0]
SS_HD inline Mat3 edge_matrix(const Vec3& x0, const Vec3& x1, const Vec3& x2, const Vec3& x3) {
  return Mat3::from_columns({x1 - x0, x2 - x0, x3 - x0});
}

/// Rest-space gradients of the four shape functions: rows of D_m^-1, and minus their sum first.
template <class T>
struct ShapeGradientsOf {
  Vec<T, 3> g[4];
  SS_HD explicit ShapeGradientsOf(const Mat<T, 3>& inverse_rest) {
    for (int a = 0; a < 3; ++a) g[a + 1] = inverse_rest.row(a);
    g[0] = -(g[1] + g[2] + g[3]);
  }
};
using ShapeGradients = ShapeGradientsOf<Real>;

/// Adds weight * P g_a to each corner a: the gradient of weight * Psi.
SS_HD inline void add_corner_gradients(const Mat3& piola, const ShapeGradients& shape, Real weight,
                                       CornerVectors& corners) {
  for (int a = 0; a < 4; ++a) corners[a] += weight * (piola * shape.g[a]);
}

/// `even` of row i, column j.
template <class T>
SS_HD inline T even_of(const StressDerivativeOf<T>& d, int i, int j) {
  return d.even[3 - i - j];
}
template <class T>
SS_HD inline T even_of(const StrainResistanceOf<T>& d, int i, int j) {
  return d.even(i, j);
}

/// Adds the lower corner blocks of weight * dP/dF. In the frame of the singular values, h_a = v' g_a, and
/// block (a, b) is u M u' with, for i, j, k all different,
///   M_ii = scaling_ii h_a,i h_b,i + even_ij h_a,j h_b,j + even_ik h_a,k h_b,k,
///   M_ij = scaling_ij h_a,i h_b,j + odd_k h_a,j h_b,i.
/// Blocks of corner 0 follow, because a translation changes nothing.
/// `Store`: the first of a sum, which need not be zero before.
template <bool Store = false, class T, class Derivative>
SS_HD inline void add_corner_blocks(const Derivative& d, const ShapeGradientsOf<T>& shape, T weight,
                                    CornerBlocksOf<T>& blocks) {
  using Mat3 = Mat<T, 3>;
  const auto put = [](Mat3& out, const Mat3& block) {
    if constexpr (Store) out = block;
    else out += block;
  };
  Vec<T, 3> h[4];
  for (int a = 1; a < 4; ++a) h[a] = transposed_times(d.v, shape.g[a]);
  const Mat3 ut = weight * d.u.transposed();
  Mat3 to_zero[4];  // minus the sums of rows 1 to 3
  for (int a = 1; a < 4; ++a)
    for (int b = 1; b <= a; ++b) {
      Mat3 m;
      for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        m(i, i) = d.scaling(i, i) * h[a][i] * h[b][i] + even_of(d, i, j) * h[a][j] * h[b][j] +
                  even_of(d, i, k) * h[a][k] * h[b][k];
        m(j, k) = d.scaling(j, k) * h[a][j] * h[b][k] + d.odd[i] * h[a][k] * h[b][j];
        m(k, j) = d.scaling(k, j) * h[a][k] * h[b][j] + d.odd[i] * h[a][j] * h[b][k];
      }
      const Mat3 block = d.u * m * ut;
      put(blocks(a, b), block);
      if (b == 1) to_zero[a] = T(-1) * block;
      else to_zero[a] -= block;
      if (a != b) to_zero[b] -= block.transposed();
    }
  for (int a = 1; a < 4; ++a) put(blocks(a, 0), to_zero[a]);
  put(blocks(0, 0), T(-1) * (to_zero[1] + to_zero[2] + to_zero[3]));
}

}  // namespace stickslip
