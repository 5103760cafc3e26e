// The product of one contact stencil's couplings.
#pragma once

#include "gpu/linear/coupling.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// The four products of a stencil's couplings C + C', of those that `coupled` lets through; returns
/// x'(C + C')x. `x`: a pointer, or anything whose [i] is a Vec3.
template <class Coupled, class Vector>
SS_HD Real stencil_product(const Vec4i& nodes, const Mat3* couplings, Coupled coupled, const Vector& x,
                           Vec3* products) {
  Vec3 xs[4], ys[4];
  for (int a = 0; a < 4; ++a) {
    xs[a] = nodes[a] >= 0 ? x[nodes[a]] : Vec3::zero();
    ys[a] = Vec3::zero();
  }
  int k = 0;
  for (int a = 1; a < 4; ++a)
    for (int b = 0; b < a; ++b, ++k) {
      if (nodes[a] < 0 || nodes[b] < 0 || !coupled(nodes[a], nodes[b])) continue;
      ys[a] += couplings[k] * xs[b];
      ys[b] += transposed_times(couplings[k], xs[a]);
    }
  Real sum = 0;
  for (int a = 0; a < 4; ++a) {
    products[a] = ys[a];
    sum += dot(xs[a], ys[a]);
  }
  return sum;
}

}  // namespace stickslip
