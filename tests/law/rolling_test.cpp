// Friction with rolling resistance: blocks of five rows. The references are written out here: the law's
// conditions, and the projection by alternating between the two circular cones.
#include <Eigen/Eigenvalues>
#include <cmath>

#include "gpu/law/local_solve.h"
#include "gpu/law/natural_map.h"
#include "gpu/law/nonsmooth.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::block_scale;
using testing::RandomLaws;
using Five = Vec<double, 5>;

/// Coefficients of friction and rolling: of order 1, one of them tiny, or one of them zero.
ContactLaw<5> rolling_law(RandomLaws& random, FlowRule flow, int kind) {
  ContactLaw<5> law{};
  law.set = FrictionSet::rolling;
  law.flow = flow;
  double friction = random.uniform(0.05, 1.5), rolling = random.uniform(0.05, 1.5);
  if (kind % 5 == 1) rolling = std::pow(10.0, random.uniform(-6, -1));
  if (kind % 5 == 2) friction = std::pow(10.0, random.uniform(-6, -1));
  if (kind % 11 == 3) rolling = 0;
  if (kind % 11 == 4) friction = 0;
  if (kind % 37 == 5) friction = rolling = 0;
  law.mu = {friction, friction, rolling, rolling};
  return law;
}

/// What a pair (u, r) lacks of the law, each relative to the sizes in it.
struct Lack {
  double cone, dual, product;
};

/// K = {|r_T| <= mu r_N, |r_R| <= mu_r r_N}, and K* = {mu |u_T| + mu_r |u_R| <= u_N}. `u`: with De Saxce's
/// shift.
Lack lack_of(double mu, double mu_r, const Five& r, const Five& u) {
  const double impulse = std::hypot(r[1], r[2]), moment = std::hypot(r[3], r[4]);
  const double slip = std::hypot(u[1], u[2]), roll = std::hypot(u[3], u[4]);
  double product = 0, sizes = 0, size_r = 0, size_u = 0;
  for (int i = 0; i < 5; ++i) {
    product += r[i] * u[i];
    size_r += r[i] * r[i];
    size_u += u[i] * u[i];
  }
  size_r = std::sqrt(size_r);
  size_u = std::sqrt(size_u) * (1 + mu + mu_r);
  sizes = size_r * size_u;
  const double outside = std::max({impulse - mu * r[0], moment - mu_r * r[0], -r[0]});
  const double below = mu * slip + mu_r * roll - u[0];
  return {size_r > 0 ? outside / size_r : 0, size_u > 0 ? below / size_u : 0,
          sizes > 0 ? std::fabs(product) / sizes : 0};
}

/// The textbook projection of the part (x_0, x_a, x_b) onto a circular cone.
Five onto_cone(double mu, int a, Five x) {
  const double t = std::hypot(x[a], x[a + 1]);
  if (t <= mu * x[0]) return x;
  if (mu * t <= -x[0]) {
    x[0] = x[a] = x[a + 1] = 0;
    return x;
  }
  const double n = (x[0] + mu * t) / (1 + mu * mu);
  x[0] = n;
  x[a] *= mu * n / t;
  x[a + 1] *= mu * n / t;
  return x;
}

/// Dykstra's method: the projection onto the intersection of the cones of friction and of rolling.
Five by_alternation(double mu, double mu_r, const Five& given) {
  Five x = given, p = Five::zero(), q = Five::zero();
  for (int step = 0; step < 3000; ++step) {
    const Five y = onto_cone(mu, 1, x + p);
    p = x + p - y;
    x = onto_cone(mu_r, 3, y + q);
    q = y + q - x;
  }
  return x;
}

TEST(Rolling, ProjectionIsThatOfAlternatingProjections) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  int inside = 0, polar = 0, beside = 0;
  for (int n = 0; n < 300; ++n) {
    ContactLaw<5> law = rolling_law(random, FlowRule::exact, 0);
    if (n % 7 == 0) law.mu[2] = law.mu[3] = 0;
    Five x = random.vector<5>();
    x[0] += n % 3 - 1;
    const Five p = project(law, x), reference = by_alternation(law.mu[0], law.mu[2], x);
    EXPECT_LE(norm(p - reference), 1e-6 * norm(x)) << n;
    ++(p == x ? inside : p == Five::zero() ? polar : beside);
  }
  EXPECT_GT(inside, 5);
  EXPECT_GT(polar, 20);
  EXPECT_GT(beside, 100);
}

TEST(Rolling, ProjectionSatisfiesItsConditions) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 20000; ++n) {
    const ContactLaw<5> law = rolling_law(random, FlowRule::exact, n);
    const Five x = (n % 3 == 0 ? random.power(12) : 1.0) * random.vector<5>();
    const Five p = project(law, x);
    const Lack lack = lack_of(law.mu[0], law.mu[2], p, p - x);
    EXPECT_LE(lack.cone, 4e-15) << n;
    EXPECT_LE(norm(project(law, p) - p), 2e-15 * norm(x)) << n;
    // p - x in K*, orthogonal to p; both to the rounding of x.
    const double size = norm(x);
    EXPECT_LE(support(law, p - x) - (p - x)[0], 1e-14 * size) << n;
    EXPECT_LE(std::fabs(dot(p, p - x)), 1e-14 * size * size) << n;
    if (::testing::Test::HasFailure()) return;
  }
}

/// sigma = max of -d . u over the section, by going around both discs.
TEST(Rolling, SupportIsTheMaximumOverTheSection) {
  RandomLaws random(7);
  for (int n = 0; n < 20; ++n) {
    const ContactLaw<5> law = rolling_law(random, FlowRule::exact, n);
    const Five u = random.vector<5>();
    double friction = 0, rolling = 0;
    for (int k = 0; k < 20000; ++k) {
      const double angle = 2 * M_PI * k / 20000;
      friction = std::max(friction, -law.mu[0] * (std::cos(angle) * u[1] + std::sin(angle) * u[2]));
      rolling = std::max(rolling, -law.mu[2] * (std::cos(angle) * u[3] + std::sin(angle) * u[4]));
    }
    EXPECT_NEAR(support(law, u), friction + rolling, 1e-6);
    EXPECT_NEAR(shifted(law, u)[0], u[0] + friction + rolling, 1e-6);
  }
}

/// Central differences, wherever forward and backward differences agree.
template <class F>
int compare(const F& f, const Five& at, const Mat<double, 5>& jacobian) {
  int compared = 0;
  for (int j = 0; j < 5; ++j) {
    Five step = Five::zero();
    step[j] = 1e-6;
    const Five fine = (f(at + step) - f(at - step)) / 2e-6, forward = (f(at + step) - f(at)) / 1e-6;
    const double size = 1 + norm(fine);
    if (norm(fine - forward) > 1e-5 * size) continue;
    ++compared;
    EXPECT_LE(norm(fine - jacobian.column(j)), 2e-5 * size) << "column " << j;
  }
  return compared;
}

TEST(Rolling, DerivativeOfTheProjection) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  int compared = 0;
  for (int n = 0; n < 3000; ++n) {
    const ContactLaw<5> law = rolling_law(random, FlowRule::exact, n);
    const Five x = random.vector<5>();
    const Mat<double, 5> d = differentiate_projection(law, x);
    compared += compare([&](const Five& y) { return project(law, y); }, x, d);
    EXPECT_LE(norm(d * project(law, x) - project(law, x)), 1e-12) << "homogeneous";
    Eigen::Matrix<double, 5, 5> dense;
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 5; ++j) dense(i, j) = d(i, j);
    EXPECT_LE((dense - dense.transpose()).norm(), 1e-14);
    const auto values = Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 5, 5>>(dense).eigenvalues();
    EXPECT_GE(values.minCoeff(), -1e-13);
    EXPECT_LE(values.maxCoeff(), 1 + 1e-13);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 3000 * 4);
}

TEST(Rolling, JacobiansOfNewtonsFunctions) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  using Function = NonsmoothBlock<5> (*)(const ContactLaw<5>&, const Five&, const Five&, double);
  const Function functions[] = {[](const ContactLaw<5>& law, const Five& r, const Five& u, double rho) {
                                  return alart_curnier(law, r, u, rho, 0.7 * rho);
                                },
                                [](const ContactLaw<5>& law, const Five& r, const Five& u, double rho) {
                                  return alart_curnier(law, r, u, rho, 0.7 * rho, SectionRadius::impulse);
                                },
                                &minimum_map<5>};
  for (const Function f : functions) {
    int compared = 0;
    for (int n = 0; n < 2000; ++n) {
      const ContactLaw<5> law =
          rolling_law(random, n % 2 == 0 ? FlowRule::exact : FlowRule::associated, n / 2);
      Five r = random.vector<5>();
      const Five u = random.vector<5>();
      if (n % 3 == 0) r = project(law, r);
      if (n % 3 == 1) r[0] = std::fabs(r[0]);
      const double rho = random.power(0.5);
      const NonsmoothBlock<5> block = f(law, r, u, rho);
      compared += compare([&](const Five& x) { return f(law, x, u, rho).f; }, r, block.df_dr);
      compared += compare([&](const Five& x) { return f(law, r, x, rho).f; }, u, block.df_du);
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(compared, 2000 * 7);
  }
}

/// r and u = W r + q of a block, against the conditions of the law: under the exact rule with De Saxce's
/// shift.
void check_local(RandomLaws& random, FlowRule flow, int count) {
  double worst_cone = 0, worst_dual = 0, worst_product = 0, worst_map = 0;
  int states[4] = {}, slips[4] = {};
  for (int n = 0; n < count; ++n) {
    const ContactLaw<5> law = rolling_law(random, flow, n);
    const Mat<double, 5> w = random.power(n % 3 == 0 ? 9 : 0) * random.block<5>(n % 2 == 0 ? 2 : 1e4);
    Five q = (n % 7 == 0 ? random.power(9) : 1.0) * random.vector<5>();
    if (n % 3 != 0) q[0] = (n % 3 == 1 ? -5 : -1) * std::fabs(q[0]);
    const LocalData<5> data = prepare_local(law, w);
    double lambda = 0;
    Five r = local_solve(law, data, q, lambda);
    if (n % 4 == 0) {  // again, from a good or a bad guess
      lambda *= n % 8 == 0 ? 1.001 : random.power(6);
      r = local_solve(law, data, q, lambda);
    }
    const Five free = w * r + q;
    Five u = free;
    const double slip = std::hypot(u[1], u[2]), roll = std::hypot(u[3], u[4]);
    if (flow == FlowRule::exact) u[0] += law.mu[0] * slip + law.mu[2] * roll;
    const Lack lack = lack_of(law.mu[0], law.mu[2], r, u);
    // Velocities are known to the rounding errors of W r + q.
    const double s = block_scale(w), most = 1 + std::max(law.mu[0], law.mu[2]);
    const double size = (s * norm(r) + norm(q)) * most;
    worst_cone = std::max(worst_cone, lack.cone);
    worst_dual = std::max(worst_dual, (law.mu[0] * slip + law.mu[2] * roll - u[0]) / size);
    worst_product = std::max(worst_product, std::fabs(dot(r, u)) * s / (size * size));
    worst_map = std::max(worst_map, block_error(law, s, r, free) / size);
    const BlockState state = block_state(law, s, r, free);
    ++states[static_cast<int>(state)];
    if (state == BlockState::slides) ++slips[(slip > 1e-9 * size ? 1 : 0) + (roll > 1e-9 * size ? 2 : 0)];
  }
  EXPECT_LE(worst_cone, 1e-14);
  EXPECT_LE(worst_dual, 1e-12);
  EXPECT_LE(worst_product, 1e-12);
  EXPECT_LE(worst_map, 1e-11);
  for (int state = 0; state < 3; ++state) EXPECT_GT(states[state], count / 100) << "state " << state;
  for (int kind = 1; kind < 4; ++kind) EXPECT_GT(slips[kind], count / 100) << "slides and rolls: " << kind;
}

TEST(Rolling, LocalSolutionSatisfiesTheLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_local(random, FlowRule::exact, 40000);
}

TEST(Rolling, LocalSolutionSatisfiesTheAssociatedLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_local(random, FlowRule::associated, 10000);
}

/// Bilateral blocks of five rows, and blocks that nothing moves.
TEST(Rolling, OtherBlocksOfFiveRows) {
  RandomLaws random(3);
  ContactLaw<5> joint{};
  joint.set = FrictionSet::bilateral;
  for (int n = 0; n < 1000; ++n) {
    const Mat<double, 5> w = random.block<5>(100);
    const Five q = random.vector<5>();
    EXPECT_LE(norm(w * local_solve(joint, w, q) + q), 1e-12 * norm(q));
  }
  const ContactLaw<5> law = rolling_law(random, FlowRule::exact, 0);
  EXPECT_EQ(local_solve(law, Mat<double, 5>::zero(), {-1, 1, 1, 1, 1}), Five::zero());
  EXPECT_EQ(local_solve(law, Mat<double, 5>::identity(), {1, 1, 1, 1, 1}), Five::zero());
}

/// Without rolling rows in the section, or with a rolling coefficient too large to yield, Coulomb's law is
/// left.
TEST(Rolling, ReducesToCoulombsLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 2000; ++n) {
    const double mu = random.uniform(0.1, 1);
    const Mat<double, 3> w3 = random.block<3>(10);
    Mat<double, 5> w = Mat<double, 5>::identity();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) w(i, j) = w3(i, j);
    const Vec<double, 3> q3 = random.vector<3>();
    ContactLaw<5> law{{mu, mu, n % 2 == 0 ? 0.0 : 1e6, n % 2 == 0 ? 0.0 : 1e6}, FrictionSet::rolling};
    const Five q{q3[0], q3[1], q3[2], 0.3, -0.2};
    const Five r = local_solve(law, w, q);
    const Vec<double, 3> r3 = local_solve(ContactLaw<3>{{mu, mu}}, w3, q3);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(r[i], r3[i], 1e-9 * (1 + norm(r3))) << n;
  }
}

}  // namespace
}  // namespace stickslip
