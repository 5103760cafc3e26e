#include "gpu/linear/sparse_cholesky.h"

#include <gtest/gtest.h>

#include "gpu/model/report.h"

namespace stickslip {
namespace {

TEST(SparseCholesky, RefusesWhatItCannotDo) {
  HostBlocks two{
      2, {{0, 0}, {1, 1}, {1, 0}}, {Mat3::identity(), Mat3::identity(), Mat3::identity() * Real(2)}};
  const std::vector<Vec3> b(2, Vec3{1, 2, 3});
  EXPECT_THROW(solve_cholesky(two, b, {}), SimulationError);  // eigenvalues 3 and -1, or no Eigen
  HostBlocks many;
  many.node_count = kMostCholeskyNodes + 1;
  EXPECT_THROW(solve_cholesky(many, std::vector<Vec3>(many.node_count), {}), SimulationError);
}

TEST(SparseCholesky, SumsBlocksAtOnePlace) {
  if (!has_cholesky()) GTEST_SKIP() << "this build has no Eigen";
  const HostBlocks two{
      2,
      {{0, 0}, {1, 1}, {1, 0}, {0, 1}},
      {Mat3::identity() * Real(4), Mat3::identity() * Real(4), Mat3::identity(), Mat3::identity()}};
  const std::vector<Vec3> x = solve_cholesky(two, std::vector<Vec3>{{6, 0, 0}, {6, 0, 0}}, {});
  EXPECT_NEAR(x[0][0], 1, 1e-6);  // (4 + 2) x = 6
  EXPECT_NEAR(x[1][0], 1, 1e-6);
}

}  // namespace
}  // namespace stickslip
