// Shares of constraints: together they are the derivatives with respect to all nodes.
#include "gpu/energy/constraint_share.h"

#include <gtest/gtest.h>

#include <random>

namespace stickslip {
namespace {

/// Points of two tets that share a node, a single node, and a point of the world.
Model points_of_two_tets() {
  Model model;
  model.constraint_points = {
      {{0, 1, 2, 3}, {0.1, 0.2, 0.3, 0.4}, {}},     {{0, 1, 2, 3}, {1.5, -0.2, 0.3, -0.6}, {}},
      {{3, 4, 5, 6}, {0.25, 0.25, 0.25, 0.25}, {}}, {{3, 4, 5, 6}, {-0.5, 0.5, 0.7, 0.3}, {}},
      {{7, -1, -1, -1}, {1, 0, 0, 0}, {}},          {{-1, -1, -1, -1}, {0, 0, 0, 0}, {1, 2, 3}}};
  for (const Vec4i& points :
       {Vec4i{0, 1, 2, 3}, Vec4i{0, 2, -1, -1}, Vec4i{0, 4, 5, -1}, Vec4i{4, 5, -1, -1}, Vec4i{1, 4, 2, 3}}) {
    NodeConstraint constraint;
    constraint.points = points;
    model.constraints.push_back(constraint);
  }
  return model;
}

TEST(ConstraintShares, AddUpToTheDerivativesByAllNodes) {
  constexpr int kNodes = 8;
  const Model model = points_of_two_tets();
  const std::vector<ConstraintShare> shares = constraint_shares(model);
  std::mt19937 generator{5};
  std::uniform_real_distribution<Real> uniform{-1, 1};
  for (std::size_t i = 0; i < model.constraints.size(); ++i) {
    // A gradient and a symmetric matrix by points.
    CornerVectors g{};
    CornerBlocks h{};
    for (int c = 0; c < 4; ++c) {
      for (int k = 0; k < 3; ++k) g[c][k] = uniform(generator);
      for (int d = 0; d <= c; ++d) {
        for (Real& m : h(c, d).m) m = uniform(generator);
        if (c == d) h(c, c) += h(c, c).transposed();
      }
    }
    Real w[4][kNodes] = {};
    for (int c = 0; c < 4; ++c) {
      if (model.constraints[i].points[c] < 0) continue;
      const ConstraintPoint& p =
          model.constraint_points[static_cast<std::size_t>(model.constraints[i].points[c])];
      for (int k = 0; k < 4; ++k)
        if (p.nodes[k] >= 0) w[c][p.nodes[k]] += static_cast<Real>(p.weights[k]);
    }
    Vec3 sum_g[kNodes] = {};
    Mat3 sum_h[kNodes][kNodes] = {};
    for (const ConstraintShare& share : shares) {
      if (share.constraint != static_cast<std::int32_t>(i)) continue;
      CornerVectors share_g{};
      CornerBlocks share_h{};
      share_gradient(share, g, share_g);
      share_blocks(share, h, share_h);
      for (int k = 0; k < 4; ++k) {
        if (share.nodes[k] < 0) continue;
        sum_g[share.nodes[k]] += share_g[k];
        for (int l = 0; l <= k; ++l) {
          if (share.nodes[l] < 0) continue;
          sum_h[share.nodes[k]][share.nodes[l]] += share_h(k, l);
          if (k != l) sum_h[share.nodes[l]][share.nodes[k]] += share_h(k, l).transposed();
        }
      }
    }
    for (int n = 0; n < kNodes; ++n) {
      Vec3 expected_g = Vec3::zero();
      for (int c = 0; c < 4; ++c) expected_g += w[c][n] * g[c];
      EXPECT_LT(norm(sum_g[n] - expected_g), 1e-5) << i;
      for (int m = 0; m < kNodes; ++m) {
        Mat3 expected = Mat3::zero();
        for (int c = 0; c < 4; ++c)
          for (int d = 0; d < 4; ++d)
            expected += (w[c][n] * w[d][m]) * (d <= c ? h(c, d) : h(d, c).transposed());
        expected -= sum_h[n][m];
        EXPECT_LT(dot(expected, expected), 1e-10) << i << ": " << n << ", " << m;
      }
    }
  }
}

TEST(ConstraintShares, AreOneForAConstraintOfFourNodes) {
  const Model model = points_of_two_tets();
  int count[5] = {};
  for (const ConstraintShare& share : constraint_shares(model)) ++count[share.constraint];
  EXPECT_EQ(count[0], 6) << "seven nodes in four pairs";
  EXPECT_EQ(count[2], 3) << "five nodes in three pairs";
  EXPECT_EQ(count[3], 1);
}

}  // namespace
}  // namespace stickslip
