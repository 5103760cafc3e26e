#include "gpu/dfcp/solvers/lemke_dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stickslip {
namespace {

/// M = G G' + skew, positive definite and not symmetric.
ComplementarityProblem random_complementarity(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  ComplementarityProblem p{n, std::vector<double>(n * n), std::vector<double>(n)};
  std::vector<double> g(n * n);
  for (double& x : g) x = normal(random);
  for (double& x : p.q) x = normal(random);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 0.1 : 0;
      for (std::size_t k = 0; k < n; ++k) sum += g[i * n + k] * g[j * n + k] / static_cast<double>(n);
      const double skew = i == j ? 0 : normal(random);
      p.m[i * n + j] = sum + skew;
      p.m[j * n + i] = sum - skew;
    }
  return p;
}

/// The solution by trying all sets of positive z; M has one.
std::vector<double> solve_by_enumeration(const ComplementarityProblem& p) {
  for (unsigned set = 0; set < 1U << p.n; ++set) {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < p.n; ++i)
      if ((set >> i & 1U) != 0) free.push_back(i);
    const std::size_t k = free.size();
    std::vector<double> a(k * k), x(k), z(p.n, 0.0);
    for (std::size_t i = 0; i < k; ++i) {
      x[i] = -p.q[free[i]];
      for (std::size_t j = 0; j < k; ++j) a[i * k + j] = p.m[free[i] * p.n + free[j]];
    }
    DenseLu(k, a).solve(x.data());
    for (std::size_t i = 0; i < k; ++i) z[free[i]] = x[i];
    if (complementarity_error(p, z) < 1e-10) return z;
  }
  return {};
}

TEST(Lemke, FindsTheSolutionOfRandomProblems) {
  const auto go_on = [] { return false; };
  for (unsigned seed = 0; seed < 40; ++seed) {
    const ComplementarityProblem p = random_complementarity(1 + seed % 9, seed);
    std::vector<double> z;
    long pivots = 0;
    ASSERT_EQ(solve_by_lemke(p, z, pivots, go_on), LemkeEnd::solved);
    EXPECT_LT(complementarity_error(p, z), 1e-11);
    const std::vector<double> known = solve_by_enumeration(p);
    ASSERT_FALSE(known.empty());
    for (std::size_t i = 0; i < p.n; ++i) EXPECT_NEAR(z[i], known[i], 1e-8) << seed;
  }
  for (unsigned seed = 0; seed < 3; ++seed) {
    const ComplementarityProblem p = random_complementarity(120, seed);
    std::vector<double> z;
    long pivots = 0;
    ASSERT_EQ(solve_by_lemke(p, z, pivots, go_on), LemkeEnd::solved);
    EXPECT_LT(complementarity_error(p, z), 1e-10);
    EXPECT_GT(pivots, 0);
  }
}

TEST(Lemke, EndsInARayWithoutASolution) {
  // w_0 = -z_1 - 1 < 0 whatever z is.
  const ComplementarityProblem p{2, {0, -1, 1, 0}, {-1, 1}};
  std::vector<double> z;
  long pivots = 0;
  EXPECT_EQ(solve_by_lemke(p, z, pivots, [] { return false; }), LemkeEnd::ray);
  EXPECT_GE(*std::ranges::min_element(z), 0);
  EXPECT_GT(z[0] + z[1], 0);
  const ComplementarityProblem solvable = random_complementarity(30, 1);
  EXPECT_EQ(solve_by_lemke(solvable, z, pivots, [] { return true; }), LemkeEnd::stopped);
}

TEST(Lemke, TiesDoNotMakeItCycle) {
  // All right sides are equal, and so are all rows but for their own entry.
  const std::size_t n = 30;
  ComplementarityProblem p{n, std::vector<double>(n * n, 1.0), std::vector<double>(n, -1.0)};
  for (std::size_t i = 0; i < n; ++i) p.m[i * n + i] = 1 + 1e-6;
  std::vector<double> z;
  long pivots = 0;
  ASSERT_EQ(solve_by_lemke(p, z, pivots, [] { return false; }), LemkeEnd::solved);
  EXPECT_LT(complementarity_error(p, z), 1e-9);
}

/// One pivot of a large tableau may take longer than a time budget: rows are the unit, from the first on.
TEST(Lemke, StopsWithinAPivot) {
  const ComplementarityProblem p = random_complementarity(60, 3);
  std::vector<double> z;
  long pivots = 0, looks = 0;
  ASSERT_EQ(solve_by_lemke(p, z, pivots, [&] { return ++looks < 0; }), LemkeEnd::solved);
  const long all = looks, needed = pivots;
  EXPECT_GT(all, needed * static_cast<long>(p.n) / 2);
  for (const long last : {1L, 30L, 90L, all / 2}) {
    pivots = looks = 0;
    EXPECT_EQ(solve_by_lemke(p, z, pivots, [&] { return ++looks >= last; }), LemkeEnd::stopped);
    EXPECT_EQ(looks, last) << "no work after the first true";
    EXPECT_LE(pivots, needed * last / all + 1);
  }
}

/// A time budget ends the elimination of many joints, which takes as long as all pivots.
TEST(Lemke, FactorsStopWhenAsked) {
  const ComplementarityProblem p = random_complementarity(100, 2);
  int looks = 0;
  EXPECT_TRUE(DenseLu(p.n, p.m, [&] { return ++looks > 1000; }).regular());
  const int most = looks;
  EXPECT_GT(most, 3);
  looks = 0;
  EXPECT_FALSE(DenseLu(p.n, p.m, [&] { return ++looks == 2; }).regular());
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace stickslip
