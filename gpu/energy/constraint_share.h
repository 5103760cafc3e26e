// The points of constraints, which follow up to four nodes, and the parts of a constraint's derivatives that
// fit into stencils of four nodes.
//
// With x_c = fixed_c + sum_k W_ck y_k, the derivatives with respect to the nodes y are W'g and W'H W. A
// constraint between two tets has eight nodes y: they form pairs, and each two pairs make a stencil.
#pragma once

#include <vector>

#include "gpu/energy/corner_values.h"
#include "gpu/model/model.h"

namespace stickslip {

/// A ConstraintPoint in backend memory.
struct MovedPoint {
  Vec4i nodes;
  Vec<Real, 4> weights;
  Vec3 fixed;

  SS_HD Vec3 at(const Vec3* x) const {
    Vec3 sum = fixed;
    for (int k = 0; k < 4; ++k)
      if (nodes[k] >= 0) sum += weights[k] * x[nodes[k]];
    return sum;
  }
};

/// The derivatives of one constraint with respect to four of its nodes.
struct ConstraintShare {
  std::int32_t constraint = -1;
  std::uint16_t owned = 0;  // bit 4 k + l: the share has the block of nodes k >= l; k = l: and g of node k
  Vec4i nodes{-1, -1, -1, -1};
  Vec<Real, 4> weights[4] = {};  // W_ck by points c

  SS_HD bool owns(int k, int l) const { return (owned >> (4 * k + l) & 1U) != 0; }
};

/// g of the share's nodes from that of the points.
SS_HD inline void share_gradient(const ConstraintShare& share, const CornerVectors& points,
                                 CornerVectors& out) {
  for (int k = 0; k < 4; ++k) {
    out[k] = Vec3::zero();
    if (!share.owns(k, k)) continue;
    for (int c = 0; c < 4; ++c)
      if (share.weights[c][k] != Real(0)) out[k] += share.weights[c][k] * points[c];
  }
}

/// The blocks between the share's nodes from those between the points.
SS_HD inline void share_blocks(const ConstraintShare& share, const CornerBlocks& points, CornerBlocks& out) {
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l <= k; ++l) {
      Mat3 sum = Mat3::zero();
      for (int c = 0; share.owns(k, l) && c < 4; ++c)
        for (int d = 0; d < 4; ++d) {
          const Real weight = share.weights[c][k] * share.weights[d][l];
          if (weight == Real(0)) continue;
          sum += weight * (d <= c ? points(c, d) : points(d, c).transposed());
        }
      out(k, l) = sum;
    }
}

/// The shares of all constraints in their order. Each block and each gradient is in one share.
std::vector<ConstraintShare> constraint_shares(const Model& model);

}  // namespace stickslip
