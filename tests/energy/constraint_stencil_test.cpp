// Forces and Hessians of constraints against finite differences, and their balance.
#include "gpu/energy/constraint_stencil.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace stickslip {
namespace {

using Kind = NodeConstraint::Kind;
constexpr bool kDouble = sizeof(Real) == 8;

struct Case {
  const char* name;
  ConstraintStencil stencil;
};

std::vector<Case> cases() {
  ConstraintStencil base{};
  base.arm = Real(0.7);
  base.low = base.high = Real(0.1);
  base.mass = Real(2);
  std::vector<Case> all;
  ConstraintStencil s = base;
  s.kind = Kind::product;
  s.points = {0, 1, 2, -1};
  s.first = {1, -1, 0, 0};
  s.second = {0, -1, 1, 0};
  all.push_back({"along", s});
  s.points = {0, 1, 2, 3};
  s.first = {-1, 1, 0, 0};
  s.second = {0, 0, -1, 1};
  all.push_back({"across", s});
  s = base;
  s.kind = Kind::distance;
  s.points = {0, 1, -1, -1};
  all.push_back({"distance", s});
  s = base;
  s.kind = Kind::angle;
  s.points = {0, 1, 2, 3};
  all.push_back({"angle", s});
  s.kind = Kind::gear;
  s.ratio = Real(-2.5);
  s.turned = Real(0.3);
  s.axes[0] = {1, 0, 0};
  s.axes[1] = {0, Real(0.6), Real(0.8)};
  s.axes[2] = {0, 1, 0};
  s.axes[3] = {0, 0, 1};
  all.push_back({"gear", s});
  return all;
}

std::vector<Vec3> corners(std::mt19937& rng) {
  std::uniform_real_distribution<double> at(-1, 1);
  std::vector<Vec3> x(4);
  for (Vec3& p : x)
    for (int c = 0; c < 3; ++c) p[c] = static_cast<Real>(at(rng));
  return x;
}

TEST(ConstraintStencil, GradientsAreThoseOfFiniteDifferences) {
  std::mt19937 rng(5);
  const double h = kDouble ? 1e-6 : 1e-2, tolerance = kDouble ? 1e-7 : 2e-2;
  for (const Case& c : cases())
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<Vec3> x = corners(rng);
      const ConstraintState state = constraint_state(c.stencil, x.data(), 0);
      double scale = 1;
      for (int a = 0; a < 4; ++a) scale = std::max(scale, static_cast<double>(norm(state.gradient[a])));
      for (int a = 0; a < 4; ++a)
        for (int r = 0; r < 3; ++r) {
          const Real kept = x[a][r];
          x[a][r] = kept + static_cast<Real>(h);
          const double up = constraint_state(c.stencil, x.data(), state.c).c;
          x[a][r] = kept - static_cast<Real>(h);
          const double down = constraint_state(c.stencil, x.data(), state.c).c;
          x[a][r] = kept;
          EXPECT_NEAR((up - down) / (2 * h), state.gradient[a][r], tolerance * scale * scale) << c.name;
        }
    }
}

TEST(ConstraintStencil, ForcesAndTorquesOfACoordinateBalance) {
  std::mt19937 rng(6);
  for (const Case& c : cases()) {
    const std::vector<Vec3> x = corners(rng);
    const ConstraintState state = constraint_state(c.stencil, x.data(), 0);
    Vec3 force = Vec3::zero(), torque = Vec3::zero();
    double size = 0;
    for (int a = 0; a < 4; ++a) {
      force += state.gradient[a];
      torque += cross(x[a], state.gradient[a]);
      size += norm(state.gradient[a]);
    }
    EXPECT_LT(norm(force), (kDouble ? 1e-13 : 1e-5) * size) << c.name;
    // The axles of a gear bear a torque.
    if (c.stencil.kind == Kind::gear) continue;
    EXPECT_LT(norm(torque), (kDouble ? 1e-13 : 1e-5) * size) << c.name;
  }
}

TEST(ConstraintStencil, CurvatureIsThePositivePartOfTheSecondDerivative) {
  if (!kDouble) GTEST_SKIP() << "second differences need double";
  std::mt19937 rng(7);
  const double h = 1e-5;
  for (const Case& c : cases()) {
    if (c.stencil.kind == Kind::angle || c.stencil.kind == Kind::gear) continue;  // they have none
    for (const double force : {-3.0, 2.0}) {
      std::vector<Vec3> x = corners(rng);
      Eigen::MatrixXd second(12, 12);
      for (int i = 0; i < 12; ++i) {
        const Real kept = x[i / 3][i % 3];
        x[i / 3][i % 3] = kept + static_cast<Real>(h);
        const ConstraintState up = constraint_state(c.stencil, x.data(), 0);
        x[i / 3][i % 3] = kept - static_cast<Real>(h);
        const ConstraintState down = constraint_state(c.stencil, x.data(), 0);
        x[i / 3][i % 3] = kept;
        for (int j = 0; j < 12; ++j)
          second(j, i) = force * (up.gradient[j / 3][j % 3] - down.gradient[j / 3][j % 3]) / (2 * h);
      }
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(0.5 * (second + second.transpose()));
      const Eigen::MatrixXd want = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
                                   eigen.eigenvectors().transpose();
      CornerBlocks blocks{};
      for (Mat3& b : blocks.b) b = Mat3::zero();
      add_curvature(c.stencil, x.data(), static_cast<Real>(force), blocks);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j <= i; ++j) {
          if (i / 3 == j / 3 && i % 3 < j % 3) continue;
          EXPECT_NEAR(blocks(i / 3, j / 3)(i % 3, j % 3), want(i, j), 1e-5) << c.name << " " << i << " " << j;
        }
    }
  }
}

TEST(ConstraintStencil, BoundsPushInwardAndAnEquationPushesBothWays) {
  ConstraintStencil s{};
  s.low = -1;
  s.high = 1;
  const Real k = 10;
  EXPECT_EQ(constraint_force(s, Real(0.5), 0, k).force, 0);
  EXPECT_NEAR(constraint_force(s, Real(1.5), 0, k).force, 5, 1e-6);
  EXPECT_NEAR(constraint_force(s, Real(-1.5), 0, k).force, -5, 1e-6);
  EXPECT_NEAR(constraint_force(s, Real(1), Real(3), k).force, 3, 1e-6) << "the multiplier holds the bound";
  EXPECT_EQ(constraint_force(s, Real(0), Real(3), k).force, 0) << "and lets go";
  s.low = s.high = 0;
  EXPECT_NEAR(constraint_force(s, Real(-0.5), Real(1), k).force, -4, 1e-6);
  EXPECT_NEAR(constraint_force(s, Real(0.5), Real(1), k).value, 1 * 0.5 + 0.5 * 10 * 0.25, 1e-6);
}

TEST(ConstraintStencil, MotorsPushWithTheirLimit) {
  ConstraintStencil s{};
  s.limit = 4;
  EXPECT_NEAR(motor_force(s, Real(1), Real(2), Real(0.1)).force, -4, 1e-6);
  EXPECT_NEAR(motor_force(s, Real(3), Real(2), Real(0.1)).force, 4, 1e-6);
  EXPECT_NEAR(motor_force(s, Real(2.05), Real(2), Real(0.1)).force, 2, 1e-5);
  EXPECT_NEAR(motor_force(s, Real(2.1), Real(2), Real(0.1)).value, 4 * 0.1, 1e-6) << "continuous";
}

}  // namespace
}  // namespace stickslip
