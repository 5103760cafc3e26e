#include "gpu/linear/symmetric3.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/fixtures/fresh_seed.h"
#include "tests/linear/systems.h"

namespace stickslip {
namespace {

using Dense = Eigen::Matrix<double, 3, 3>;

Dense to_dense(const Symmetric3& a) {
  return (Dense() << a.xx, a.xy, a.xz, a.xy, a.yy, a.yz, a.xz, a.yz, a.zz).finished();
}

TEST(Symmetric3, InvertsPositiveBlocks) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  test::Random random(seed);
  constexpr double epsilon = sizeof(Real) == 8 ? 1e-15 : 1e-7;
  for (int k = 0; k < 10000; ++k) {
    // One direction up to 1e9 (1e3 in float) times stiffer than the others, at scales from micro to giga.
    Eigen::Vector3d n(random.uniform(), random.uniform(), random.uniform());
    const double ratio = std::pow(sizeof(Real) == 8 ? 1e9 : 1e3, random.uniform(0, 1));
    const double scale = std::pow(10.0, random.uniform(-6, 9));
    const Dense a = scale * (Dense::Identity() + ratio * n * n.transpose());
    Mat3 block{};
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) block(r, c) = static_cast<Real>(a(r, c));
    const Dense residual = to_dense(inverse_spd(block)) * a - Dense::Identity();
    EXPECT_LT(residual.norm(), 1e2 * epsilon * ratio + 1e2 * epsilon)
        << "ratio " << ratio << " scale " << scale;
  }
}

TEST(Symmetric3, StaysPositiveWhereABlockIsNot) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const auto diagonal = [](Real a, Real b, Real c) { return Mat3{{a, 0, 0, 0, b, 0, 0, 0, c}}; };
  for (const Mat3& block :
       {diagonal(1, 1, 0), diagonal(0, 2, 1), diagonal(3, -1, 1), diagonal(1, 1, Real(-0.5))}) {
    const Eigen::SelfAdjointEigenSolver<Dense> eigen(to_dense(inverse_spd(block)));
    EXPECT_GT(eigen.eigenvalues()[0], 0);
    EXPECT_TRUE(eigen.eigenvalues().allFinite());
  }
  for (const Mat3& block : {Mat3::zero(), diagonal(-1, 0, 0), diagonal(nan, 1, 1)})
    EXPECT_TRUE(to_dense(inverse_spd(block)).isZero(0));
}

}  // namespace
}  // namespace stickslip
