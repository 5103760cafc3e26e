#include "gpu/dfcp/solvers/lemke_dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
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

/// Contacts of one body with whole numbers in their directions, so that many ratios tie, and noise about as
/// large as the tolerance of ties.
ComplementarityProblem contacts_with_near_ties(std::size_t contacts, unsigned seed) {
  constexpr std::size_t kFacets = 8, kRows = kFacets + 2, kDofs = 6;
  const std::size_t n = kRows * contacts;
  std::mt19937 random(seed);
  const auto whole = [&] { return static_cast<double>(random() % 3) - 1; };
  std::vector<double> direction(n * kDofs, 0.0), velocity(kDofs);
  for (double& v : velocity) v = whole();
  for (std::size_t c = 0; c < contacts; ++c)
    for (std::size_t dof = 0; dof < kDofs; ++dof) {
      const double normal = whole(), x = whole(), y = whole();
      for (std::size_t k = 0; k <= kFacets; ++k) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(k) / kFacets;
        direction[(kRows * c + k) * kDofs + dof] =
            k == 0 ? normal : std::cos(angle) * x + std::sin(angle) * y;
      }
    }
  const auto product = [&](const double* a, const double* b) {
    return std::inner_product(a, a + kDofs, b, 0.0);
  };
  ComplementarityProblem p{n, std::vector<double>(n * n), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      p.m[i * n + j] = product(&direction[i * kDofs], &direction[j * kDofs]);
    p.q[i] = product(&direction[i * kDofs], velocity.data());
  }
  for (std::size_t normal = 0; normal < n; normal += kRows) {
    const std::size_t slack = normal + kFacets + 1;
    for (std::size_t k = normal + 1; k < slack; ++k) {
      p.m[k * n + slack] = 1;
      p.m[slack * n + k] = -1;
    }
    p.m[slack * n + normal] = 0.5;
  }
  std::normal_distribution<double> noise(0, std::pow(10.0, -9 - static_cast<int>(seed % 5)));
  for (double& x : p.m) x += noise(random);
  for (double& x : p.q) x += noise(random);
  return p;
}

/// Near-ties that rounding decides can lead a path back: it would go round until a limit of pivots, minutes
/// for a heap of bodies.
TEST(Lemke, APathThatReturnsEnds) {
  int returned = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const ComplementarityProblem p = contacts_with_near_ties(8, seed);
    std::vector<double> z;
    long pivots = 0;
    const LemkeEnd end = solve_by_lemke(p, z, pivots, [] { return false; });
    returned += end == LemkeEnd::stopped;
    EXPECT_LT(pivots, 10 * static_cast<long>(p.n)) << seed;
  }
  EXPECT_GT(returned, 0) << "the problems no longer tie";
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
