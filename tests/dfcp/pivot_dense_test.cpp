#include "gpu/dfcp/solvers/pivot_dense.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace stickslip {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
const auto kNever = [] { return false; };

/// A of full rank; normals with [0, inf), free rows, frictions with [-b, b], and fixed rows.
BoundedProblem random_problem(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto m = static_cast<Eigen::Index>(n);
  const Eigen::MatrixXd g = Eigen::MatrixXd::NullaryExpr(m, m, [&] { return normal(random); });
  const Eigen::MatrixXd a = g * g.transpose() + 0.1 * Eigen::MatrixXd::Identity(m, m);
  BoundedProblem p;
  p.n = n;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      p.a.push_back(a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    p.b.push_back(3 * normal(random));
    const int kind = static_cast<int>(random() % 6);
    const double bound = kind == 0 ? 0 : std::fabs(normal(random));
    p.lower.push_back(kind < 3 ? -bound : kind == 5 ? -kUnbounded : 0);
    p.upper.push_back(kind < 3 ? bound : kUnbounded);
  }
  return p;
}

/// Solves by trying all 3^n sets of active bounds.
std::vector<double> enumerate(const BoundedProblem& p) {
  const auto n = static_cast<int>(p.n);
  long ways = 1;
  for (int i = 0; i < n; ++i) ways *= 3;
  for (long way = 0; way < ways; ++way) {
    Eigen::MatrixXd m = Eigen::MatrixXd::Identity(n, n);
    Eigen::VectorXd right(n), b(n);
    std::vector<int> set(p.n);
    long rest = way;
    bool possible = true;
    for (int i = 0; i < n; ++i, rest /= 3) {
      const auto k = static_cast<std::size_t>(i);
      set[k] = static_cast<int>(rest % 3);
      b[i] = p.b[k];
      right[i] = set[k] == 0 ? -p.b[k] : set[k] == 1 ? p.lower[k] : p.upper[k];
      possible &= std::isfinite(right[i]);
      if (set[k] == 0)
        for (int j = 0; j < n; ++j) m(i, j) = p.entry(k, static_cast<std::size_t>(j));
    }
    if (!possible) continue;
    const Eigen::VectorXd x = m.fullPivLu().solve(right);
    for (int i = 0; i < n && possible; ++i) {
      const auto k = static_cast<std::size_t>(i);
      double v = p.b[k];
      for (int j = 0; j < n; ++j) v += p.entry(k, static_cast<std::size_t>(j)) * x[j];
      possible = x[i] >= p.lower[k] - 1e-9 && x[i] <= p.upper[k] + 1e-9 && (set[k] != 1 || v >= -1e-9) &&
                 (set[k] != 2 || v <= 1e-9);
      // Both bounds are equal: either sign is valid.
      if (p.lower[k] == p.upper[k]) possible = set[k] == 1;
      if (p.lower[k] == p.upper[k] && set[k] == 1) possible = true;
    }
    if (possible) return {x.data(), x.data() + n};
  }
  return {};
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST(PivotDense, FactorFollowsItsRows) {
  const BoundedProblem p = random_problem(12, 3);
  PrincipalFactor factor(p);
  std::vector<std::int32_t> rows;
  std::mt19937 random(4);
  for (int change = 0; change < 60; ++change) {
    const auto row = static_cast<std::int32_t>(random() % 12);
    const auto found = std::find(rows.begin(), rows.end(), row);
    if (found == rows.end()) {
      ASSERT_TRUE(factor.append(row));
      rows.push_back(row);
    } else {
      factor.remove(row);
      rows.erase(found);
    }
    ASSERT_TRUE(std::equal(rows.begin(), rows.end(), factor.rows().begin(), factor.rows().end()));
    std::vector<double> x(rows.size(), 1.0);
    factor.solve(x);
    for (const std::int32_t i : rows) {
      double sum = 0;
      for (std::size_t k = 0; k < rows.size(); ++k)
        sum += p.entry(static_cast<std::size_t>(i), static_cast<std::size_t>(rows[k])) * x[k];
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

TEST(PivotDense, FactorRefusesDependentRows) {
  BoundedProblem p;
  p.n = 2;
  p.a = {1, 1, 1, 1};
  PrincipalFactor factor(p);
  EXPECT_TRUE(factor.append(0));
  EXPECT_FALSE(factor.append(1));
  EXPECT_EQ(factor.rows().size(), 1u);
  EXPECT_FALSE(factor.assign({0, 1}));
}

TEST(PivotDense, FactorStopsWhenAsked) {
  const BoundedProblem p = random_problem(100, 3);
  std::vector<std::int32_t> rows(100);
  std::iota(rows.begin(), rows.end(), 0);
  PrincipalFactor factor(p);
  int looks = 0;
  EXPECT_FALSE(factor.assign(rows, [&] { return ++looks == 2; }));
  EXPECT_EQ(looks, 2);
  EXPECT_TRUE(factor.rows().empty());
  EXPECT_TRUE(factor.assign(rows, [] { return false; }));
  EXPECT_EQ(factor.rows().size(), 100u);
}

TEST(PivotDense, AgreesWithEnumeration) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const BoundedProblem p = random_problem(5, seed);
    const std::vector<double> truth = enumerate(p);
    ASSERT_FALSE(truth.empty());
    for (const auto method : {&PivotMethod::solve_incremental, &PivotMethod::solve_block}) {
      PivotMethod pivot(p);
      std::vector<double> x(p.n, 0.0);
      ASSERT_TRUE((pivot.*method)(x, kNever));
      expect_near(x, truth, 1e-8);
    }
  }
}

TEST(PivotDense, GoesOnFromTheLastSolution) {
  BoundedProblem p = random_problem(60, 5);
  for (const auto method : {&PivotMethod::solve_incremental, &PivotMethod::solve_block}) {
    PivotMethod warm(p);
    std::vector<double> x(p.n, 0.0);
    ASSERT_TRUE((warm.*method)(x, kNever));
    const long cold = warm.steps();
    for (std::size_t i = 0; i < p.n; ++i)
      if (std::isfinite(p.lower[i]) && std::isfinite(p.upper[i])) {
        p.lower[i] *= 1.01;
        p.upper[i] *= 1.01;
      }
    ASSERT_TRUE((warm.*method)(x, kNever));
    EXPECT_LT(warm.steps() - cold, cold / 2 + 2);
    PivotMethod fresh(p);
    std::vector<double> y(p.n, 0.0);
    ASSERT_TRUE((fresh.*method)(y, kNever));
    expect_near(x, y, 1e-7);
  }
}

TEST(PivotDense, StopsOnRequest) {
  const BoundedProblem p = random_problem(20, 6);
  for (const auto method : {&PivotMethod::solve_incremental, &PivotMethod::solve_block}) {
    PivotMethod pivot(p);
    std::vector<double> x(p.n, 0.0);
    EXPECT_FALSE((pivot.*method)(x, [] { return true; }));
  }
}

/// Rows that are dependent up to rounding: the method must end, with any result.
TEST(PivotDense, EndsWhereTheMatrixIsAllButSingular) {
  constexpr std::size_t n = 30;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const Eigen::MatrixXd g = Eigen::MatrixXd::NullaryExpr(n, 4, [&] { return normal(random); });
    const Eigen::MatrixXd a = g * g.transpose() + 1e-15 * Eigen::MatrixXd::Identity(n, n);
    BoundedProblem p = random_problem(n, seed);
    std::copy_n(a.data(), n * n, p.a.begin());
    PivotMethod pivot(p);
    std::vector<double> x(n, 0.0);
    pivot.solve_incremental(x, kNever);
    EXPECT_LE(pivot.steps(), 1000 + 100 * static_cast<long>(n) + 1);
    // A stopped solve takes no pivot, not even in its setup.
    const long before = pivot.steps();
    EXPECT_FALSE(pivot.solve_incremental(x, [] { return true; }));
    EXPECT_EQ(pivot.steps(), before);
  }
}

}  // namespace
}  // namespace stickslip
