#include "gpu/law/ncp_friction.h"

#include "gpu/law/local_solve.h"
#include "gpu/law/natural_map.h"
#include "gpu/math/dense_solve.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::block_scale;
using testing::RandomLaws;

constexpr NcpFunction kNcpFunctions[] = {NcpFunction::fischer_burmeister, NcpFunction::minimum};

/// The slip speed that gamma is at a solution.
template <int D>
double slip_of(const ContactLaw<D>& law, const Vec<double, D>& u) {
  const double mean = law_detail::mean_friction(law);
  return law.set == FrictionSet::ellipsoid && mean > 0 ? support(law, u) / mean : 0.0;
}

/// Columns of a Jacobian against central differences, where forward and backward ones agree.
template <int D, class F>
int compare_columns(const F& f, const Vec<double, D>& at, const Mat<double, D + 1, D>& jacobian) {
  int compared = 0;
  for (int j = 0; j < D; ++j) {
    Vec<double, D> step = Vec<double, D>::zero();
    step[j] = 1e-6;
    const Vec<double, D + 1> fine = (f(at + step) - f(at - step)) / 2e-6,
                             forward = (f(at + step) - f(at)) / 1e-6;
    const double size = 1 + norm(fine);
    if (norm(fine - forward) > 1e-5 * size) continue;
    ++compared;
    EXPECT_LE(norm(fine - jacobian.column(j)), 2e-5 * size) << "column " << j;
  }
  return compared;
}

template <int D>
void check_equations(RandomLaws& random, NcpFunction function, int count) {
  int compared = 0;
  for (int n = 0; n < count; ++n) {
    const ContactLaw<D> law = random.law<D>(3);
    const NcpChoice choice{random.power(0.5), random.power(0.5), function};
    const Vec<double, D> r = random.vector<D>(), u = random.vector<D>();
    const double gamma = random.normal();
    const auto e = ncp_equations(law, choice, r, u, gamma);
    compared += compare_columns<D>(
        [&](const Vec<double, D>& x) { return ncp_equations(law, choice, x, u, gamma).f; }, r, e.by_r);
    compared += compare_columns<D>(
        [&](const Vec<double, D>& x) { return ncp_equations(law, choice, r, x, gamma).f; }, u, e.by_u);
    const auto ahead = ncp_equations(law, choice, r, u, gamma + 1e-6).f,
               behind = ncp_equations(law, choice, r, u, gamma - 1e-6).f;
    const Vec<double, D + 1> fine = (ahead - behind) / 2e-6;
    if (norm(fine - (ahead - e.f) / 1e-6) <= 1e-5 * (1 + norm(fine))) {
      EXPECT_LE(norm(fine - e.by_gamma), 2e-5 * (1 + norm(fine)));
    }
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "n " << n << " set " << static_cast<int>(law.set);
      return;
    }
  }
  EXPECT_GT(compared, count * D * 3 / 2);
}

TEST(NcpFriction, JacobiansMatchFiniteDifferences) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (const NcpFunction function : kNcpFunctions) {
    check_equations<3>(random, function, 2000);
    check_equations<4>(random, function, 2000);
  }
}

/// Both forms vanish where the exact local solver ends, with gamma the slip speed; away from the law, the
/// equations vanish for no gamma.
template <int D>
void check_ncp_roots(RandomLaws& random, NcpFunction function) {
  for (int n = 0; n < 2000; ++n) {
    const ContactLaw<D> law = random.law<D>(3);
    const Mat<double, D> w = random.block<D>(10);
    Vec<double, D> q = random.vector<D>();
    if (n % 2 == 0) q[0] = -3 * std::fabs(q[0]);
    const NcpChoice choice{0.8, 1.3, function};
    const Vec<double, D> r = local_solve(law, w, q), u = w * r + q;
    double tolerance = 1e-11 * (1 + norm(r) + norm(q));
    for (int i = 0; i < D - 1; ++i)
      if (law.mu[i] > 0) tolerance *= 1 + norm(law.mu) + norm(law.mu) / law.mu[i];
    EXPECT_LE(norm(ncp_equations(law, choice, r, u, slip_of(law, u)).f), tolerance) << n;

    const Vec<double, D> other = r + 0.1 * random.vector<D>(), v = w * other + q;
    const double error = block_error(law, 1.0, other, v);
    if (error < 1e-3) continue;
    double least = norm(ncp_equations(law, choice, other, v, slip_of(law, v)).f);
    for (int k = 0; k < 50; ++k)
      least = std::min(least, norm(ncp_equations(law, choice, other, v, 0.1 * k).f));
    EXPECT_GT(least, 1e-7 * error) << n;
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(NcpFriction, VanishesExactlyAtTheLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (const NcpFunction function : kNcpFunctions) {
    check_ncp_roots<3>(random, function);
    check_ncp_roots<4>(random, function);
  }
}

/// The steps of r and gamma are those of the whole system of D + 1 rows, also where d psi / d gamma is zero.
template <int D>
void check_elimination(RandomLaws& random) {
  for (int n = 0; n < 1000; ++n) {
    NcpEquations<D> e;
    e.f = random.vector<D + 1>();
    e.by_gamma = random.vector<D + 1>();
    if (n % 2 == 0) e.by_gamma[D] = 0;
    for (int i = 0; i <= D; ++i)
      for (int j = 0; j < D; ++j) {
        e.by_r(i, j) = random.normal();
        e.by_u(i, j) = random.normal();
      }
    const Mat<double, D> w = random.block<D>(10);
    Mat<double, D + 1> whole{};
    const Mat<double, D + 1, D> by_impulse = e.by_r + e.by_u * w;
    for (int i = 0; i <= D; ++i) {
      whole(i, D) = e.by_gamma[i];
      for (int j = 0; j < D; ++j) whole(i, j) = by_impulse(i, j);
    }
    const Vec<double, D + 1> expected = solve_dense(whole, -e.f);
    if (norm(expected) > 100) continue;  // nearly singular
    const NcpElimination<D> split(e);
    const Vec<double, D> dr = solve_dense(split.block.df_dr + split.block.df_du * w, -split.block.f);
    const double size = 1e-8 * (1 + norm(expected));
    for (int i = 0; i < D; ++i) EXPECT_NEAR(dr[i], expected[i], size);
    EXPECT_NEAR(split.gamma_step(dr, w * dr), expected[D], size);
  }
}

TEST(NcpFriction, EliminationIsTheWholeSystem) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_elimination<3>(random);
  check_elimination<4>(random);
}

/// Newton's method on one block in r and gamma converges from nearby.
TEST(NcpFriction, NewtonConverges) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (const NcpFunction function : kNcpFunctions) {
    int found = 0, tried = 0;
    for (int n = 0; n < 300; ++n) {
      const ContactLaw<3> law = random.law<3>(1);
      const Mat<double, 3> w = random.block<3>(5);
      Vec<double, 3> q = random.vector<3>();
      if (n % 2 == 0) q[0] = -std::fabs(q[0]);
      const Vec<double, 3> solution = local_solve(law, w, q);
      Vec<double, 3> r = solution + 1e-3 * random.vector<3>();
      double gamma = slip_of(law, w * r + q);
      const NcpChoice choice{block_scale(w), block_scale(w), function};
      for (int step = 0; step < 15; ++step) {
        const NcpElimination<3> split(ncp_equations(law, choice, r, w * r + q, gamma));
        const Vec<double, 3> dr = solve_dense(split.block.df_dr + split.block.df_du * w, -split.block.f);
        gamma += split.gamma_step(dr, w * dr);
        r += dr;
      }
      ++tried;
      if (norm(r - solution) <= 1e-9 * (1 + norm(solution))) ++found;
    }
    EXPECT_GE(found, tried * 8 / 10) << static_cast<int>(function);
  }
}

/// The fixed point vanishes at the law, its matrices are the identity and diagonal, and iterated on one block
/// it reaches the solution from nearby.
TEST(NcpFriction, SymmetricFixedPoint) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (const NcpFunction function : kNcpFunctions) {
    int found = 0, tried = 0;
    for (int n = 0; n < 500; ++n) {
      ContactLaw<3> law = random.law<3>(1);
      const Mat<double, 3> w = random.block<3>(5);
      Vec<double, 3> q = random.vector<3>();
      if (n % 2 == 0) q[0] = -std::fabs(q[0]);
      const NcpChoice choice{block_scale(w), block_scale(w), function};
      const Vec<double, 3> solution = local_solve(law, w, q);
      Vec<double, 3> r = solution + 1e-3 * random.vector<3>();
      for (int step = 0; step < 60; ++step) {
        const NonsmoothBlock<3> block = ncp_fixed_point(law, choice, r, w * r + q);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            EXPECT_EQ(block.df_du(i, j), i == j ? 1 : 0);
            if (i == j) EXPECT_GE(block.df_dr(i, j), 0);
            else EXPECT_EQ(block.df_dr(i, j), 0);
          }
        r -= solve_dense(w + block.df_dr, block.f);
      }
      ++tried;
      if (norm(r - solution) <= 1e-5 * (1 + norm(solution))) ++found;
    }
    EXPECT_GE(found, tried * 8 / 10) << static_cast<int>(function);
  }
}

}  // namespace
}  // namespace stickslip
