#include "gpu/law/nonsmooth.h"

#include "gpu/law/fischer_burmeister.h"
#include "gpu/law/local_solve.h"
#include "gpu/law/natural_map.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::block_scale;
using testing::RandomLaws;

template <int D>
struct Function {
  const char* name;
  NonsmoothBlock<D> (*value)(const ContactLaw<D>&, const Vec<double, D>&, const Vec<double, D>&, double);
};

template <int D>
constexpr Function<D> kFunctions[] = {
    {"alart_curnier", [](const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& u,
                         double rho) { return alart_curnier(law, r, u, rho, 0.7 * rho); }},
    {"alart_curnier, radius of the impulse",
     [](const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& u, double rho) {
       return alart_curnier(law, r, u, rho, 0.7 * rho, SectionRadius::impulse);
     }},
    {"minimum_map", &minimum_map<D>},
    {"fischer_burmeister", [](const ContactLaw<D>& law, const Vec<double, D>& r, const Vec<double, D>& u,
                              double rho) { return fischer_burmeister(law, r, u, rho); }},
};

/// Central differences if forward and backward differences agree; a kink makes them differ.
template <class F, int D>
int compare_jacobian(const F& f, const Vec<double, D>& at, const Mat<double, D>& jacobian) {
  int compared = 0;
  for (int j = 0; j < D; ++j) {
    Vec<double, D> step = Vec<double, D>::zero();
    step[j] = 1e-6;
    const Vec<double, D> fine = (f(at + step) - f(at - step)) / 2e-6;
    const Vec<double, D> forward = (f(at + step) - f(at)) / 1e-6;
    const double size = 1 + norm(fine);
    if (norm(fine - forward) > 1e-5 * size) continue;
    ++compared;
    EXPECT_LE(norm(fine - jacobian.column(j)), 2e-5 * size) << "column " << j;
  }
  return compared;
}

template <int D>
void check_jacobians(RandomLaws& random, int count) {
  for (const Function<D>& function : kFunctions<D>) {
    SCOPED_TRACE(function.name);
    int compared = 0;
    for (int n = 0; n < count; ++n) {
      const ContactLaw<D> law = random.law<D>(3);
      Vec<double, D> r = random.vector<D>(), u = random.vector<D>();
      if (n % 3 == 0) r = project(law, r);
      if (n % 3 == 1) r[0] = std::fabs(r[0]);
      const double rho = random.power(0.5);
      const NonsmoothBlock<D> block = function.value(law, r, u, rho);
      compared += compare_jacobian([&](const Vec<double, D>& x) { return function.value(law, x, u, rho).f; },
                                   r, block.df_dr);
      compared += compare_jacobian([&](const Vec<double, D>& x) { return function.value(law, r, x, rho).f; },
                                   u, block.df_du);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << "n " << n << " set " << static_cast<int>(law.set) << " mu " << law.mu[0] << " "
                      << law.mu[1];
        return;
      }
    }
    EXPECT_GT(compared, count * D * 3 / 2);
  }
}

TEST(Nonsmooth, JacobiansMatchFiniteDifferences) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_jacobians<3>(random, 2000);
  check_jacobians<4>(random, 2000);
}

template <int D>
void check_derivative_of_projection(RandomLaws& random) {
  for (int n = 0; n < 3000; ++n) {
    const ContactLaw<D> law = random.law<D>(30);
    const Vec<double, D> x = random.vector<D>();
    const Mat<double, D> d = differentiate_projection(law, x);
    compare_jacobian([&](const Vec<double, D>& y) { return project(law, y); }, x, d);
    EXPECT_LE(norm(d * project(law, x) - project(law, x)), 1e-10) << "homogeneous";
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < i; ++j) EXPECT_NEAR(d(i, j), d(j, i), 1e-10);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Nonsmooth, DerivativeOfTheProjection) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_derivative_of_projection<3>(random);
  check_derivative_of_projection<4>(random);
}

/// Zero at solutions of the exact local solver, and nonzero away from the law.
template <int D>
void check_roots(RandomLaws& random) {
  for (int n = 0; n < 2000; ++n) {
    const ContactLaw<D> law = random.law<D>(3);
    const Mat<double, D> w = random.block<D>(10);
    Vec<double, D> q = random.vector<D>();
    if (n % 2 == 0) q[0] = -3 * std::fabs(q[0]);
    const Vec<double, D> r = local_solve(law, w, q), u = w * r + q;
    const Vec<double, D> other = r + 0.1 * random.vector<D>(), v = w * other + q;
    const double error = block_error(law, 1.0, other, v);
    double tolerance = 1e-12 * (1 + norm(r) + norm(q));  // amplified by the scalings of x and y
    for (int i = 0; i < D - 1; ++i)
      if (law.mu[i] > 0) tolerance *= 1 + norm(law.mu) + norm(law.mu) / law.mu[i];
    for (const Function<D>& function : kFunctions<D>) {
      EXPECT_LE(norm(function.value(law, r, u, 0.8).f), tolerance) << function.name << " n " << n;
      if (error < 1e-3) continue;
      EXPECT_GT(norm(function.value(law, other, v, 0.8).f), 1e-7 * error) << function.name << " n " << n;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Nonsmooth, VanishesExactlyAtTheLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_roots<3>(random);
  check_roots<4>(random);
}

/// Newton's method on one block converges from a nearby point, in each state.
TEST(Nonsmooth, NewtonConverges) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (const Function<3>& function : kFunctions<3>) {
    int found = 0, tried = 0;
    for (int n = 0; n < 300; ++n) {
      ContactLaw<3> law = random.law<3>(1);
      const Mat<double, 3> w = random.block<3>(5);
      Vec<double, 3> q = random.vector<3>();
      if (n % 2 == 0) q[0] = -std::fabs(q[0]);
      const Vec<double, 3> solution = local_solve(law, w, q);
      Vec<double, 3> r = solution + 1e-3 * random.vector<3>();
      const double rho = 1 / block_scale(w);
      for (int step = 0; step < 12; ++step) {
        const NonsmoothBlock<3> block = function.value(law, r, w * r + q, rho);
        r -= solve_dense(block.df_dr + block.df_du * w, block.f);
      }
      ++tried;
      if (norm(r - solution) <= 1e-10 * (1 + norm(solution))) ++found;
    }
    EXPECT_GE(found, tried * 9 / 10) << function.name;
  }
}

/// At r = u = 0 the Fischer-Burmeister function has the derivatives of the text: (1, 0) by impulse and
/// velocity.
TEST(Nonsmooth, PrintedDerivativeAtTheOrigin) {
  const Vec<double, 3> zero = Vec<double, 3>::zero();
  for (const FrictionSet set : {FrictionSet::ellipsoid, FrictionSet::box}) {
    const ContactLaw<3> law{{1, 1}, set, FlowRule::associated};
    const auto printed = fischer_burmeister(law, zero, zero, 2.0, FischerBurmeisterOrigin::printed);
    const auto diagonal = fischer_burmeister(law, zero, zero, 2.0);
    EXPECT_EQ(printed.df_dr(0, 0), 1);
    EXPECT_EQ(printed.df_du(0, 0), 0);
    EXPECT_DOUBLE_EQ(diagonal.df_dr(0, 0), 1 - std::sqrt(0.5));
    EXPECT_DOUBLE_EQ(diagonal.df_du(0, 0), 2 * (1 - std::sqrt(0.5)));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(printed.f[i], 0);
  }
}

/// Points without a derivative still have finite Jacobians.
TEST(Nonsmooth, KinksHaveAnElement) {
  const Vec<double, 3> zero = Vec<double, 3>::zero();
  const Vec<double, 3> points[] = {zero, {1, 0, 0}, {1, 0.5, 0}, {0, 1, 0}, {-1, 0, 0}};
  for (const FrictionSet set : {FrictionSet::ellipsoid, FrictionSet::box, FrictionSet::bilateral})
    for (const Vec<double, 2>& mu : {Vec<double, 2>{0, 0}, {0.5, 0.5}, {0.5, 0.25}, {0.5, 0}})
      for (const FlowRule flow : {FlowRule::exact, FlowRule::associated})
        for (const Vec<double, 3>& r : points)
          for (const Vec<double, 3>& u : points)
            for (const Function<3>& function : kFunctions<3>) {
              const NonsmoothBlock<3> block = function.value(ContactLaw<3>{mu, set, flow}, r, u, 1);
              for (int i = 0; i < 9; ++i) {
                ASSERT_TRUE(std::isfinite(block.df_dr.m[i]) && std::fabs(block.df_dr.m[i]) < 10)
                    << function.name;
                ASSERT_TRUE(std::isfinite(block.df_du.m[i]) && std::fabs(block.df_du.m[i]) < 10)
                    << function.name;
              }
              for (int i = 0; i < 3; ++i) ASSERT_TRUE(std::isfinite(block.f[i]));
            }
}

}  // namespace
}  // namespace stickslip
