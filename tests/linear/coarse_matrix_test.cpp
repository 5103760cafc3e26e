#include "gpu/linear/coarse_matrix.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "gpu/linear/node_groups.h"
#include "tests/linear/systems.h"

namespace stickslip {
namespace {

CoarseBlock random_block(test::Random& random, double scale) {
  CoarseBlock b;
  for (Real& v : b.m) v = static_cast<Real>(scale * random.uniform(-1, 1));
  return b;
}

// Against dense algebra: chains, stars, cliques and groups without any neighbour.
TEST(CoarseMatrix, SolvesAsDenseAlgebraDoes) {
  test::Random random(31);
  for (int round = 0; round < 20; ++round) {
    const auto groups = static_cast<std::int32_t>(1 + random.index(12));
    std::vector<Vec2i> pairs;
    for (std::int32_t g = 0; g < groups; ++g)
      for (std::int32_t h = 0; h < g; ++h)
        if (random.index(3) == 0) pairs.push_back(random.index(2) == 0 ? Vec2i{g, h} : Vec2i{h, g});
    CoarseMatrix matrix;
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(12 * groups, 12 * groups);
    const auto add = [&](std::int32_t g, std::int32_t h, const CoarseBlock& b) {
      matrix.add(g, h, b);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) {
          dense(12 * g + i, 12 * h + j) += static_cast<double>(b(i, j));
          dense(12 * h + j, 12 * g + i) += static_cast<double>(b(i, j));
        }
    };
    for (int again = 0; again < 2; ++again) {  // the second time with the same order
      matrix.begin(groups, pairs);
      dense.setZero();
      for (const Vec2i& p : pairs) add(p[0], p[1], random_block(random, 1));
      for (std::int32_t g = 0; g < groups; ++g) {
        CoarseBlock b = random_block(random, 1);
        for (int k = 0; k < 12; ++k) b(k, k) += 100;
        add(g, g, b);
      }
      matrix.factorise();
      std::vector<AffineMotion> y(static_cast<std::size_t>(groups));
      Eigen::VectorXd right(12 * groups);
      for (std::int32_t g = 0; g < groups; ++g)
        for (int k = 0; k < 12; ++k) right[12 * g + k] = y[g][k] = static_cast<Real>(random.uniform(-1, 1));
      matrix.factors().solve(y.data());
      const Eigen::VectorXd want = dense.llt().solve(right);
      for (std::int32_t g = 0; g < groups; ++g)
        for (int k = 0; k < 12; ++k)
          EXPECT_NEAR(y[g][k], want[12 * g + k], (sizeof(Real) == 8 ? 1e-9 : 1e-4) * want.norm());
    }
  }
}

// A group of one node has no gradients, and one on a line has none across it: their rows are zero.
TEST(CoarseMatrix, MotionsWithoutNodesStayZero) {
  CoarseMatrix matrix;
  matrix.begin(2, std::vector<Vec2i>{{0, 1}});
  CoarseBlock b = CoarseBlock::zero();
  for (int k = 0; k < 3; ++k) b(k, k) = 1;
  matrix.add(0, 0, b);
  matrix.factorise();
  std::vector<AffineMotion> y(2, AffineMotion::zero());
  for (int k = 0; k < 3; ++k) y[0][k] = 4;
  matrix.factors().solve(y.data());
  for (int k = 0; k < 12; ++k) {
    EXPECT_NEAR(y[0][k], k < 3 ? 2 : 0, 1e-4);
    EXPECT_EQ(y[1][k], 0);
  }
}

TEST(NodeGroups, AreBalancedPartsOfBodies) {
  std::vector<Vec3> positions;
  std::vector<Vec2i> pairs;
  for (int body = 0; body < 3; ++body)
    for (int i = 0; i < 100; ++i) {
      positions.push_back({Real(i), Real(body), 0});
      if (i > 0) pairs.push_back({100 * body + i, 100 * body + i - 1});
    }
  positions.push_back({0, 0, 0});  // coupled with nothing
  const std::vector<std::int32_t> group = make_node_groups(positions, pairs, 30);
  ASSERT_EQ(group.size(), positions.size());
  EXPECT_EQ(group.back(), -1);
  std::vector<int> size(12, 0);
  for (std::size_t i = 0; i + 1 < group.size(); ++i) {
    ASSERT_GE(group[i], 0);
    ASSERT_LT(group[i], 12);
    ++size[group[i]];
    EXPECT_EQ(group[i] / 4, static_cast<int>(i / 100)) << i;
    EXPECT_EQ(group[i], group[i / 25 * 25]) << "a part of a chain is in one piece";
  }
  for (const int n : size) EXPECT_EQ(n, 25);
  EXPECT_TRUE(make_node_groups({}, {}, 10).empty());
}

}  // namespace
}  // namespace stickslip
