// Random input, finite differences and dense matrices for the tests of element derivatives.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "gpu/energy/corner_values.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::test {

using Dense = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

/// Differences of functions and arguments of magnitude one have an error of a modest multiple of this.
inline const Real kStep = std::cbrt(std::numeric_limits<Real>::epsilon());
inline const double kDifferenceError = 50 * std::pow(std::numeric_limits<Real>::epsilon(), 2.0 / 3.0);
/// Rounding of a few hundred operations.
inline const double kRounding = 2000 * std::numeric_limits<Real>::epsilon();

class Random {
 public:
  Random() : seed(stickslip::fixtures::fresh_seed()), engine_(seed) {}
  Real uniform(Real low, Real high) {
    return static_cast<Real>(std::uniform_real_distribution<double>(low, high)(engine_));
  }
  int index(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  Vec3 vector(Real size = 1) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Mat3 matrix(Real size = 1) { return Mat3::from_columns({vector(size), vector(size), vector(size)}); }
  Mat3 rotation() {
    const Vec3 a = normalized(vector()), b = normalized(cross(a, vector()));
    return Mat3::from_columns({a, b, cross(a, b)});
  }
  std::string trace() const { return "seed " + std::to_string(seed); }

  const unsigned seed;

 private:
  std::mt19937 engine_;
};

template <int R, int C>
Dense dense(const Mat<Real, R, C>& a) {
  return Eigen::Map<const Eigen::Matrix<Real, R, C, Eigen::RowMajor>>(a.m).template cast<double>();
}
inline Dense dense(const CornerBlocks& blocks) {
  Dense h(12, 12);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      h(i, j) = i / 3 >= j / 3 ? blocks(i / 3, j / 3)(i % 3, j % 3) : blocks(j / 3, i / 3)(j % 3, i % 3);
  return h;
}
inline Column flat(const Vec3* v, int corners = 4) {
  Column c(3 * corners);
  for (int k = 0; k < 3 * corners; ++k) c[k] = v[k / 3][k % 3];
  return c;
}

/// The derivative of g, a number or a Column, with respect to `value`: central differences over the step and
/// over half of it, extrapolated (Richardson), because some elements have third derivatives of 1e5. `value`
/// is as before afterwards.
template <class G>
auto difference(Real& value, Real step, G g) {
  const Real before = value;
  const auto over = [&](Real h) {
    // volatile: the step actually taken, also in float.
    volatile Real up = before + h, down = before - h;
    value = up;
    auto slope = g();
    value = down;
    slope -= g();
    value = before;
    slope /= static_cast<double>(up) - down;
    return slope;
  };
  auto slope = over(step / 2);
  slope *= 4.0;
  slope -= over(step);
  slope /= 3.0;
  return slope;
}
/// df/dx of a scalar function of `corners` positions.
template <class F>
Column difference_gradient(Vec3* x, int corners, F f, Real step = kStep) {
  Column g(3 * corners);
  for (int k = 0; k < 3 * corners; ++k)
    g[k] = difference(x[k / 3][k % 3], step, [&] { return static_cast<double>(f()); });
  return g;
}
/// dg/dx of a function of the same positions that returns a Column; column k is the derivative with respect
/// to coordinate k.
template <class F>
Dense difference_jacobian(Vec3* x, int corners, F g, Real step = kStep) {
  Dense j;
  for (int k = 0; k < 3 * corners; ++k) {
    const Column slope = difference(x[k / 3][k % 3], step, [&] { return Column(g()); });
    if (k == 0) j.resize(slope.size(), 3 * corners);
    j.col(k) = slope;
  }
  return j;
}

/// The nearest positive semidefinite matrix.
inline Dense nearest_spd(const Dense& h) {
  const Eigen::SelfAdjointEigenSolver<Dense> eigen((h + h.transpose()) / 2);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() *
         eigen.eigenvectors().transpose();
}
inline double smallest_eigenvalue(const Dense& h) {
  return Eigen::SelfAdjointEigenSolver<Dense>(h, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

inline void expect_near(const Dense& a, const Dense& b, double tolerance) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  const double scale = std::max({1.0, a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff()});
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), tolerance * scale) << "got\n" << a << "\nwant\n" << b;
}
/// `scale`: of the matrix that was projected, whose rounding remains.
inline void expect_spd(const Dense& h, double scale = 1) {
  ASSERT_TRUE(h.allFinite()) << h;
  expect_near(h, h.transpose(), kRounding);
  EXPECT_GE(smallest_eigenvalue(h), -kRounding * std::max({1.0, scale, h.cwiseAbs().maxCoeff()}));
}

}  // namespace stickslip::test
