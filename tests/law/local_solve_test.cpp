#include "gpu/law/local_solve.h"

#include "gpu/law/natural_map.h"
#include "tests/fixtures/fresh_seed.h"
#include "tests/law/random_laws.h"

namespace stickslip {
namespace {

using testing::block_scale;
using testing::RandomLaws;

/// Error of the natural map relative to the velocities in it: De Saxce's shift multiplies rounding errors by
/// 1 + mu.
template <int D>
double law_residual(const ContactLaw<D>& law, const Mat<double, D>& w, const Vec<double, D>& q,
                    const Vec<double, D>& r) {
  double most = 0;
  for (int i = 0; i < D - 1; ++i) most = std::max(most, law.mu[i]);
  const double s = block_scale(w);
  return block_error(law, s, r, w * r + q) / ((s * norm(r) + norm(q)) * (1 + most));
}

template <int D>
void check_law(RandomLaws& random, FrictionSet set, FlowRule flow, double largest_mu, int count) {
  double worst = 0;
  int states[4] = {};
  for (int n = 0; n < count; ++n) {
    const ContactLaw<D> law = random.law<D>(set, flow, largest_mu);
    const Mat<double, D> w = random.power(n % 3 == 0 ? 9 : 0) * random.block<D>(n % 2 == 0 ? 2 : 1e6);
    Vec<double, D> q = (n % 5 == 0 ? random.power(9) : 1.0) * random.vector<D>();
    if (n % 3 != 0) q[0] = (n % 3 == 1 ? -5 : -1) * std::fabs(q[0]);
    const LocalData<D> data = prepare_local(law, w);
    double lambda = 0;
    const Vec<double, D> r = local_solve(law, data, q, lambda);
    worst = std::max(worst, law_residual(law, w, q, r));
    ++states[static_cast<int>(block_state(law, block_scale(w), r, w * r + q))];
    if (n % 4 == 0) {  // from a good or a bad guess
      lambda *= n % 8 == 0 ? 1.001 : random.power(6);
      worst = std::max(worst, law_residual(law, w, q, local_solve(law, data, q, lambda)));
    }
  }
  EXPECT_LE(worst, 1e-13);
  if (set == FrictionSet::bilateral) return;
  for (int state = 0; state < 3; ++state) EXPECT_GT(states[state], count / 40) << "state " << state;
}

void check_every_law(RandomLaws& random, int count) {
  for (const FrictionSet set : {FrictionSet::ellipsoid, FrictionSet::box, FrictionSet::bilateral})
    for (const FlowRule flow : {FlowRule::exact, FlowRule::associated}) {
      SCOPED_TRACE("set " + std::to_string(static_cast<int>(set)) + " flow " +
                   std::to_string(static_cast<int>(flow)));
      check_law<3>(random, set, flow, 10, count);
      check_law<4>(random, set, flow, 10, count / 2);
    }
}

TEST(LocalSolve, SolvesEveryLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_every_law(random, 10000);
}

TEST(LongLocalSolve, SolvesEveryLaw) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_every_law(random, 200000);
}

TEST(LocalSolve, SolvesHugeFriction) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  check_law<3>(random, FrictionSet::ellipsoid, FlowRule::exact, 1e6, 5000);
  check_law<4>(random, FrictionSet::ellipsoid, FlowRule::exact, 1e6, 5000);
  check_law<3>(random, FrictionSet::box, FlowRule::exact, 1e6, 5000);
}

TEST(LocalSolve, SolvesTinyAndHugeAssociatedFriction) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 10000; ++n) {
    const double mu = random.power(6);
    const ContactLaw<4> law{
        {mu, mu, n % 3 == 0 ? 0.5 * mu : mu}, FrictionSet::ellipsoid, FlowRule::associated};
    const Mat<double, 4> w = random.block<4>(n % 2 == 0 ? 2 : 1e6);
    const Vec<double, 4> q = random.vector<4>();
    EXPECT_LE(law_residual(law, w, q, local_solve(law, w, q)), 1e-9) << n << " mu " << mu;
  }
}

/// W = s I [Daviet20 §5.2.2].
TEST(LocalSolve, IsotropicBlocksHaveAClosedForm) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 10000; ++n) {
    const double s = random.power(6), mu = random.uniform(0, 2);
    const Vec<double, 3> q = random.vector<3>();
    const Vec<double, 2> t = tangential(q);
    Vec<double, 3> u = q;
    if (q[0] < 0) {
      const double left = std::max(1 - mu * -q[0] / norm(t), 0.0);
      u = from_parts<3>(0, left * t);
    }
    const Vec<double, 3> r = local_solve(ContactLaw<3>{{mu, mu}}, s * Mat<double, 3>::identity(), q);
    EXPECT_LE(norm(s * r - (u - q)), 1e-14 * norm(q)) << n;
  }
}

/// Sliding in direction d has r_N = -q_N / (W_NN - mu w . d). Searches all directions d for those in which
/// u_T has no component across d.
double distance_to_sliding_solutions(const Mat<double, 3>& w, const Vec<double, 3>& q, double mu,
                                     const Vec<double, 3>& r) {
  const auto impulse = [&](double angle) {
    const Vec<double, 3> unit{1, -mu * std::cos(angle), -mu * std::sin(angle)};
    return (-q[0] / dot(w.row(0), unit)) * unit;
  };
  const auto across = [&](double angle) {
    const Vec<double, 3> u = w * impulse(angle) + q;
    return std::cos(angle) * u[2] - std::sin(angle) * u[1];
  };
  double least = std::numeric_limits<double>::max();
  constexpr int samples = 500;
  for (int k = 0; k < samples; ++k) {
    const double step = 2 * std::acos(-1.0) / samples;
    double low = k * step, high = low + step;
    if (across(low) * across(high) > 0) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (across(low) * across(middle) <= 0 ? high : low) = middle;
    }
    least = std::min(least, norm(impulse(low) - r));
  }
  return least;
}

TEST(LocalSolve, SlidesAsASearchOverDirectionsFinds) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  int slides = 0;
  for (int n = 0; n < 600; ++n) {
    const double mu = random.uniform(0.1, 0.6);
    const ContactLaw<3> law{{mu, mu}};
    const Mat<double, 3> w = random.block<3>(4);  // so that the solution is unique
    Vec<double, 3> q = random.vector<3>();
    q[0] = -std::fabs(q[0]);
    const Vec<double, 3> r = local_solve(law, w, q);
    if (block_state(law, block_scale(w), r, w * r + q) != BlockState::slides) continue;
    ++slides;
    EXPECT_LE(distance_to_sliding_solutions(w, q, mu, r), 1e-9 * norm(r)) << n;
  }
  EXPECT_GT(slides, 100);
}

/// No point of the cone has a lower energy.
TEST(LocalSolve, AssociatedSolutionsAreMinima) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 3000; ++n) {
    const FrictionSet set = n % 2 ? FrictionSet::box : FrictionSet::ellipsoid;
    const ContactLaw<4> law = random.law<4>(set, FlowRule::associated, 3);
    const Mat<double, 4> w = random.block<4>(100);
    const Vec<double, 4> q = random.vector<4>(), r = local_solve(law, w, q);
    const auto energy = [&](const Vec<double, 4>& x) { return 0.5 * dot(x, w * x) + dot(q, x); };
    for (int k = 0; k < 20; ++k) {
      const Vec<double, 4> other = project(law, r + random.power(3) * random.vector<4>());
      EXPECT_GE(energy(other), energy(r) - 1e-13 * (1 + norm2(r) + norm2(other))) << n;
    }
  }
}

/// De Saxce's condition on the pyramid is the boxed complementarity of every row.
TEST(LocalSolve, BoxRowsAreComplementary) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (int n = 0; n < 5000; ++n) {
    const ContactLaw<4> law = random.law<4>(FrictionSet::box, FlowRule::exact, 3);
    const Mat<double, 4> w = random.block<4>(100);
    const Vec<double, 4> q = random.vector<4>(), r = local_solve(law, w, q), u = w * r + q;
    const double tiny = 1e-12 * (norm(r) + norm(q));
    EXPECT_GE(r[0], 0);
    EXPECT_GE(u[0], -tiny);
    EXPECT_LE(std::min(r[0], std::fabs(u[0])), tiny) << n;
    for (int i = 1; i < 4; ++i) {
      const double bound = law.mu[i - 1] * r[0];
      EXPECT_LE(std::fabs(r[i]), bound);
      const double expected = u[i] > tiny ? -bound : u[i] < -tiny ? bound : r[i];
      EXPECT_NEAR(r[i], expected, tiny);
    }
  }
}

TEST(LocalSolve, SurvivesBlocksThatAreNotRegular) {
  FRESH_SEED(seed);
  RandomLaws random(seed);
  for (const FrictionSet set : {FrictionSet::ellipsoid, FrictionSet::box, FrictionSet::bilateral})
    for (const FlowRule flow : {FlowRule::exact, FlowRule::associated})
      for (int n = 0; n < 500; ++n) {
        const ContactLaw<3> law = random.law<3>(set, flow, 3);
        const Vec<double, 3> q = random.vector<3>(), a = random.vector<3>(), b = random.vector<3>();
        EXPECT_EQ(local_solve(law, Mat<double, 3>::zero(), q), (Vec<double, 3>::zero()));
        // Of rank 1 and 2, and with an antisymmetric part.
        for (const Mat<double, 3>& w : {outer(a, a), outer(a, a) + outer(b, b)}) {
          Mat<double, 3> skew = w;
          skew(1, 2) += 1e-6;
          for (const Mat<double, 3>& given : {w, skew}) {
            const Vec<double, 3> r = local_solve(law, given, q);
            for (int i = 0; i < 3; ++i) ASSERT_TRUE(std::isfinite(r[i])) << n;
            EXPECT_LE(cone_distance(law, r), 1e-12 * norm(r)) << n;
          }
        }
        // q in the range of W: an impulse that stops the block is among the solutions.
        const Mat<double, 3> w = outer(a, a) + outer(b, b);
        const ContactLaw<3> joint{{1, 1}, FrictionSet::bilateral};
        const Vec<double, 3> reachable = w * random.vector<3>();
        EXPECT_LE(norm(w * local_solve(joint, w, reachable) + reachable), 1e-9 * (1 + norm(reachable)));
      }
}

}  // namespace
}  // namespace stickslip
