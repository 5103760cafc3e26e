// The terms of the laws for single contacts, compared with cases solved by hand.
#include "gpu/law/law_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace stickslip {
namespace {

/// On a floor, mu = 0.5 in all directions.
ContactOutcome contact(const Vec<double, 3>& impulse, const Vec<double, 3>& velocity) {
  ContactOutcome c{};
  c.n = {0, 1, 0};
  c.t1 = {1, 0, 0};
  c.t2 = {0, 0, 1};
  c.mu1 = c.mu2 = 0.5;
  c.impulse = impulse;
  c.velocity = velocity;
  return c;
}

void expect_lawful(const LawCheck& law) {
  EXPECT_EQ(law.approach, 0);
  EXPECT_EQ(law.pull, 0);
  EXPECT_LE(law.cone, 1e-15);
  EXPECT_EQ(law.complementarity, 0);
  EXPECT_LE(law.slip, 1e-15);
  EXPECT_LE(law.friction_work, 0);
}

TEST(LawCheck, SticksSlidesAndTakesOff) {
  expect_lawful(law_terms(contact({0, 0, 0}, {1, 2, 0})));
  expect_lawful(law_terms(contact({0.2, 1, -0.3}, {0, 0, 0})));
  const LawCheck slides = law_terms(contact({-0.3, 1, -0.4}, {1.5, 0, 2}));
  expect_lawful(slides);
  EXPECT_DOUBLE_EQ(slides.friction_work, -0.5 * 2.5);
}

/// On a floor, with the coefficients (0.2, 0.3) for sliding along +x and +z, and (0.6, 0.9) along -x and -z.
ContactOutcome sawtooth(const Vec<double, 3>& impulse, const Vec<double, 3>& velocity) {
  ContactOutcome c = contact(impulse, velocity);
  c.mu1 = 0.2;
  c.mu2 = 0.3;
  c.is_one_sided = true;
  c.back = {0.6, 0.9};
  return c;
}

TEST(LawCheck, OneSidedFrictionHasBoundsForEachDirection) {
  for (const double rx : {-0.2, 0.6})
    for (const double rz : {-0.3, 0.9}) {
      // At 0.6 and 0.8 of the bounds it is on the ellipse, and sliding along the outer normal is lawful.
      const ContactOutcome c = sawtooth({0.6 * rx, 1, 0.8 * rz}, {-0.6 / rx, 0, -0.8 / rz});
      expect_lawful(law_terms(c));
      EXPECT_LT(outcome_error(c, 0.7), 1e-15);
      EXPECT_LT(outcome_error(sawtooth({0.5 * rx, 1, 0.5 * rz}, {0, 0, 0}), 0.7), 1e-15);
      // In the other direction along x, and beyond the bound.
      EXPECT_GT(law_terms(sawtooth({0.6 * rx, 1, 0.8 * rz}, {0.6 / rx, 0, -0.8 / rz})).slip, 0.1);
      EXPECT_NEAR(law_terms(sawtooth({1.5 * rx, 1, 0}, {0, 0, 0})).cone, 0.5 * std::max(std::fabs(rx), 0.3),
                  1e-12)
          << "times the largest coefficient";
      EXPECT_GT(outcome_error(sawtooth({1.5 * rx, 1, 0}, {0, 0, 0}), 0.7), 0.01);
    }
}

/// The point of the cone next to z, over a fine grid of its section and, along each ray, in closed form.
double sampled_error(const ContactOutcome& c, double s, const Vec<double, 3>& r, const Vec<double, 3>& u) {
  const auto bound = [&](int i, double x) { return x > 0 ? c.back[i] : i == 0 ? c.mu1 : c.mu2; };
  double sigma = 0;
  constexpr int kSamples = 4000;
  for (int k = 0; k < kSamples; ++k) {
    const double angle = 2 * std::numbers::pi * k / kSamples, x = std::cos(angle), y = std::sin(angle);
    sigma = std::max(sigma, -(x * bound(0, x) * u[1] + y * bound(1, y) * u[2]));
  }
  const Vec<double, 3> z = r - (1 / s) * (u + sigma * Vec<double, 3>{1, 0, 0});
  Vec<double, 3> best{0, 0, 0};
  for (int k = 0; k < kSamples; ++k)
    for (int j = 0; j <= 200; ++j) {
      const double angle = 2 * std::numbers::pi * k / kSamples, share = j / 200.0, x = std::cos(angle),
                   y = std::sin(angle);
      const Vec<double, 3> ray{1, share * x * bound(0, x), share * y * bound(1, y)};
      const Vec<double, 3> p = std::max(0.0, dot(z, ray) / norm2(ray)) * ray;
      if (norm(p - z) < norm(best - z)) best = p;
    }
  return s * norm(r - best);
}

TEST(LawCheck, TheNaturalMapOfOneSidedFrictionIsThatOfItsCone) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> any(-1, 1);
  for (int trial = 0; trial < 8; ++trial) {
    const Vec<double, 3> r{std::fabs(any(rng)), any(rng), any(rng)}, u{any(rng), any(rng), any(rng)};
    // Rows (normal, t1, t2) are (y, x, z).
    const ContactOutcome c = sawtooth({r[1], r[0], r[2]}, {u[1], u[0], u[2]});
    EXPECT_NEAR(outcome_error(c, 0.7), sampled_error(c, 0.7, r, u), 5e-3) << trial;
  }
}

TEST(LawCheck, AGapMayCloseWithinTheStep) {
  ContactOutcome c = contact({0, 0, 0}, {0, -1, 0});
  EXPECT_EQ(law_terms(c).approach, 1);
  c.offset = 1.25;
  EXPECT_EQ(law_terms(c).approach, 0);
}

TEST(LawCheck, MeasuresEachWayToBreakTheLaw) {
  EXPECT_EQ(law_terms(contact({0, -2, 0}, {0, 0, 0})).pull, 2);
  EXPECT_DOUBLE_EQ(law_terms(contact({0.8, 1, 0}, {0, 0, 0})).cone, 0.3);
  EXPECT_EQ(law_terms(contact({0, 2, 0}, {0, 3, 0})).complementarity, 6);
  // Too little friction, friction across the slip, and friction that drives it.
  EXPECT_DOUBLE_EQ(law_terms(contact({-0.1, 1, 0}, {1, 0, 0})).slip, 0.4);
  EXPECT_DOUBLE_EQ(law_terms(contact({0, 1, 0.5}, {1, 0, 0})).slip, 0.5);
  const LawCheck drives = law_terms(contact({0.5, 1, 0}, {2, 0, 0}));
  EXPECT_DOUBLE_EQ(drives.friction_work, 1);
  EXPECT_DOUBLE_EQ(drives.slip, 2);
}

TEST(LawCheck, EllipsesAndRowsWithoutFriction) {
  ContactOutcome c = contact({0.6, 1, 0.1}, {0, 0, 0});
  c.mu1 = 0.75;
  c.mu2 = 0.25;
  EXPECT_NEAR(law_terms(c).cone, 0, 1e-15);  // 0.64 + 0.16 < 1
  c.impulse = {0.6, 1, 0.2};                 // 0.64 + 0.64
  EXPECT_NEAR(law_terms(c).cone, 0.75 * (std::sqrt(1.28) - 1), 1e-15);
  c.mu2 = 0;
  EXPECT_NEAR(law_terms(c).cone, 0.2, 1e-15);
  c.mu_twist = 0.5;
  c.twist = -0.5;
  c.impulse = {0, 1, 0};
  c.spin = 3;
  expect_lawful(law_terms(c));
}

TEST(LawCheck, RollingResistance) {
  ContactOutcome c = contact({0, 2, 0}, {0, 0, 0});
  c.rolling = 0.1;
  c.length = 0.5;
  c.moment = {0.12, 0, -0.16};  // 0.1 of 2 N s
  c.turn = {-3, 7, 4};          // the turn about the normal does not count
  expect_lawful(law_terms(c));
  EXPECT_DOUBLE_EQ(law_terms(c).friction_work, -1);
  c.turn = {0, 0, 0};
  c.moment = {0.05, 0, 0.02};
  expect_lawful(law_terms(c));
  // Too large, about the normal, too small and against the law's direction.
  c.moment = {0.3, 0, 0};
  EXPECT_DOUBLE_EQ(law_terms(c).cone, 0.2);
  c.moment = {0, 0.1, 0};
  EXPECT_DOUBLE_EQ(law_terms(c).cone, 0.2);
  c.moment = {0, 0, 0};
  c.turn = {3, 0, 4};
  EXPECT_DOUBLE_EQ(law_terms(c).slip, 1);
  c.moment = {0.12, 0, 0.16};
  EXPECT_DOUBLE_EQ(law_terms(c).slip, 2);
  EXPECT_DOUBLE_EQ(law_terms(c).friction_work, 1);
}

TEST(LawCheck, ANumberThatIsNotFiniteIsTheWorst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LawCheck broken = law_terms(contact({0, 1, 0}, {0, nan, 0})),
                 fine = law_terms(contact({0, 1, 0}, {0, 0, 0}));
  EXPECT_TRUE(std::isnan(worse(fine, broken).approach));
  EXPECT_TRUE(std::isnan(worse(broken, fine).approach));
}

// e_c against values by hand, with s = 2 and mu = 0.5.
TEST(StepJudge, ErrorsOfSingleContacts) {
  constexpr double kS = 2;
  // At the law: sticks, slides, open.
  EXPECT_LE(outcome_error(contact({0.2, 1, -0.3}, {0, 0, 0}), kS), 1e-15);
  EXPECT_LE(outcome_error(contact({-0.3, 1, -0.4}, {1.5, 0, 2}), kS), 1e-14);
  EXPECT_EQ(outcome_error(contact({0, 0, 0}, {0, 3, 0}), kS), 0);
  // A force at a distance: u_N if r_N is larger than u_N / s, else s r_N.
  EXPECT_DOUBLE_EQ(outcome_error(contact({0, 10, 0}, {0, 3, 0}), kS), 3);
  EXPECT_DOUBLE_EQ(outcome_error(contact({0, 1, 0}, {0, 3, 0}), kS), 2);
  // Creeping friction: the sliding speed with the shift mu |u_T| along the normal.
  EXPECT_NEAR(outcome_error(contact({0, 100, 0}, {1e-3, 0, 0}), kS), 1e-3 * std::sqrt(1.25), 1e-12);
  // It approaches without an impulse: |u_N|.
  EXPECT_DOUBLE_EQ(outcome_error(contact({0, 0, 0}, {0, -3, 0}), kS), 3);
}

/// With rolling rows, in units of their length.
TEST(StepJudge, ErrorsOfRollingContacts) {
  constexpr double kS = 2;
  ContactOutcome c = contact({0, 2, 0}, {0, 0, 0});
  c.rolling = 0.1;
  c.length = 0.5;
  c.moment = {0.12, 0, -0.16};
  c.turn = {-3, 7, 4};
  EXPECT_LE(outcome_error(c, kS), 1e-14);
  // A moment that creeps inside its bound: the shift mu_r |u_R| and the rolling velocity L |u_R|.
  c.impulse = {0, 200, 0};
  c.turn = {1e-3, 0, 0};
  EXPECT_NEAR(outcome_error(c, kS), 1e-3 * std::hypot(0.1, 0.5), 1e-12);
  // Beside the cone of half-angle 0.1 / 0.5: the distance to it, times s.
  c.impulse = {0, 2, 0};
  c.moment = {0.3, 0, 0};
  c.turn = {0, 0, 0};
  EXPECT_NEAR(outcome_error(c, kS), kS * (0.6 - 0.2 * 2) / std::hypot(1, 0.2), 1e-14);
}

TEST(StepJudge, SumsAndBounds) {
  const SpeedBounds bounds = speed_bounds(-10, 0.01);
  EXPECT_DOUBLE_EQ(bounds.least, 1e-4);
  EXPECT_DOUBLE_EQ(bounds.most, 3);
  EXPECT_EQ(speed_bounds(0, 0.01).least, 1e-6);
  const ContactOutcome bad = contact({0, 10, 0}, {0, 3, 0});
  const ContactTotals one = judge_contact(bad, 2, 16, bounds.most), two = AddContacts{}(one, one);
  EXPECT_DOUBLE_EQ(two.error2, 18);
  EXPECT_DOUBLE_EQ(two.scale2, 18);  // each |q_c| counts as 3
  const StepJudgement judgement = judgement_of({two, 0}, bounds);
  EXPECT_DOUBLE_EQ(judgement.residual, 1);
  EXPECT_DOUBLE_EQ(judgement.error, 3);
  EXPECT_EQ(judgement.contacts, 2);
  EXPECT_TRUE(std::isnan(judgement.barrier_energy)) << "nothing has measured it";
  EXPECT_EQ(judgement_of({}, bounds).residual, 0);
  EXPECT_DOUBLE_EQ(judgement_of({judge_contact(bad, 2, 0, bounds.most), 0}, bounds).scale, 1e-4);
}

TEST(StepJudge, MomentumThatNothingGave) {
  BodyMomentum gained;
  gained.gained = momentum_sums({1, 0, 0}, {0, 0, 2}, 1, momentum_sign(0));
  const JudgeSums alone = judge_sums({}, gained, MomentumSums::zero());
  EXPECT_DOUBLE_EQ(alone.contacts.law.momentum, 1);
  EXPECT_DOUBLE_EQ(alone.contacts.law.angular_momentum, 2);
  EXPECT_EQ(judge_sums({}, gained, gained.gained).contacts.law.momentum, 0);
  // Errors of two bodies that cancel: one of a few pairs has different signs.
  double worst = 0;
  for (std::int32_t body = 1; body < 8; ++body) {
    BodyMomentum opposite;
    opposite.gained = momentum_sums({-1, 0, 0}, {0, 0, -2}, 1, momentum_sign(body));
    worst = std::max(
        worst, judge_sums({}, AddMomentum{}(gained, opposite), MomentumSums::zero()).contacts.law.momentum);
  }
  EXPECT_DOUBLE_EQ(worst, 2);
}

}  // namespace
}  // namespace stickslip
