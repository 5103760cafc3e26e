#include "gpu/energy/barrier.h"

#include "tests/energy/numeric.h"

namespace stickslip::test {
namespace {

TEST(Barrier, DerivativesMatchFiniteDifferences) {
  const double d_hat = 0.7;
  for (double d = 0.05; d < 0.69; d += 0.01) {
    const Jet2<double> b = barrier_jet(d, d_hat);
    const double h = 1e-6;
    EXPECT_DOUBLE_EQ(b.value, barrier(d, d_hat));
    EXPECT_NEAR(b.first, (barrier(d + h, d_hat) - barrier(d - h, d_hat)) / (2 * h), 1e-8);
    EXPECT_NEAR(b.second, (barrier_jet(d + h, d_hat).first - barrier_jet(d - h, d_hat).first) / (2 * h),
                1e-5);
    EXPECT_GT(b.value, 0);
    EXPECT_LT(b.first, 0);
    EXPECT_GT(b.second, 0);
  }
}

TEST(Barrier, EndsAtDHatWithTwoContinuousDerivatives) {
  const double d_hat = 1e-3;
  const Jet2<double> inside = barrier_jet(d_hat * (1 - 1e-7), d_hat), outside = barrier_jet(d_hat, d_hat);
  EXPECT_EQ(outside.value, 0);
  EXPECT_EQ(outside.first, 0);
  EXPECT_EQ(outside.second, 0);
  // Near d_hat the barrier is (d_hat - d)^3 / d_hat: all three go to zero, the second derivative linearly.
  EXPECT_NEAR(inside.value, 0, 1e-20);
  EXPECT_NEAR(inside.first, 0, 1e-13);
  EXPECT_NEAR(inside.second, 0, 1e-5);
}

TEST(Barrier, ConstraintsHaveTheForceOfTheirMultiplierAtTheirGap) {
  const Real gap = Real(0.5), penalty = 3, m = Real(0.6);
  const ContactPotential potential = ContactPotential::constraint(gap, penalty, m);
  EXPECT_NEAR(potential.jet(gap).first, -m, 1e-6);
  const double end = 0.5 + 0.6 / 3, h = sizeof(Real) == 8 ? 1e-6 : 1e-3;
  const double tolerance = sizeof(Real) == 8 ? 1e-6 : 2e-2;
  // Also behind the surface, where a barrier is infinite.
  for (double d = -0.5; d < 0.9; d += 0.0123) {
    if (std::abs(d - end) < 2 * h) continue;
    SCOPED_TRACE(d);
    const auto value = [&](double at) { return static_cast<double>(potential.value(static_cast<Real>(at))); };
    const auto slope = [&](double at) {
      return static_cast<double>(potential.jet(static_cast<Real>(at)).first);
    };
    const Jet2<Real> jet = potential.jet(static_cast<Real>(d));
    EXPECT_NEAR(jet.first, (value(d + h) - value(d - h)) / (2 * h), tolerance * (1 + std::abs(jet.first)));
    EXPECT_NEAR(jet.second, (slope(d + h) - slope(d - h)) / (2 * h), tolerance * (1 + std::abs(jet.second)));
    EXPECT_EQ(jet.second, d < end ? penalty : 0);
  }
}

TEST(Barrier, PotentialWithAMultiplierIsConvexAndSmoothAndEnds) {
  const Real d_hat = Real(0.5), sigma = 3, m = Real(0.6);
  const ContactPotential potential(d_hat, sigma, m);
  const double end = 0.5 + 0.6 / 3, shift = 0.6 * 0.6 / (2 * 3);
  EXPECT_NEAR(potential.reach(), end, 1e-6);
  const double h = sizeof(Real) == 8 ? 1e-6 : 1e-3, tolerance = sizeof(Real) == 8 ? 1e-6 : 2e-2;
  for (double d = 0.02; d < 0.9; d += 0.0123) {
    if (std::abs(d - d_hat) < 2 * h || std::abs(d - end) < 2 * h) continue;
    SCOPED_TRACE(d);
    const Jet2<Real> jet = potential.jet(static_cast<Real>(d));
    const auto value = [&](double at) { return static_cast<double>(potential.value(static_cast<Real>(at))); };
    const auto slope = [&](double at) {
      return static_cast<double>(potential.jet(static_cast<Real>(at)).first);
    };
    EXPECT_NEAR(jet.value, value(d), tolerance);
    EXPECT_NEAR(jet.first, (value(d + h) - value(d - h)) / (2 * h), tolerance * (1 + std::abs(jet.first)));
    EXPECT_NEAR(jet.second, (slope(d + h) - slope(d - h)) / (2 * h), tolerance * (1 + std::abs(jet.second)));
    EXPECT_LE(jet.first, 0);
    EXPECT_GE(jet.second, 0);
    // [Guo24 §3.3]: sigma b + m (d_hat - d) at zero slack.
    if (d < d_hat) {
      EXPECT_NEAR(jet.value, sigma * barrier(d, 0.5) + m * (0.5 - d) + shift, tolerance);
    }
  }
  // Value and slope are continuous at both seams, and the force ends at zero.
  for (const double seam : {0.5, end}) {
    const Jet2<Real> before = potential.jet(static_cast<Real>(seam - h)),
                     after = potential.jet(static_cast<Real>(seam + h));
    EXPECT_NEAR(before.value, after.value, 4 * h);
    EXPECT_NEAR(before.first, after.first, 10 * h);
  }
  EXPECT_EQ(potential.value(static_cast<Real>(end + h)), 0);
  EXPECT_EQ(potential.jet(static_cast<Real>(end + h)).first, 0);
  // A multiplier of any size acts on no distance beyond 2 d_hat.
  EXPECT_NEAR(ContactPotential(d_hat, sigma, 1000).reach(), 1.0, 1e-6);
}

TEST(Barrier, GrowsWithoutBoundAtContact) {
  EXPECT_GT(barrier(1e-300, 1.0), 600);
  EXPECT_EQ(barrier(0.0, 1.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(barrier(-0.1, 1.0), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace stickslip::test
