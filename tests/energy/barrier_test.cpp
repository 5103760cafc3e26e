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

// [Ando24]: the force 2 kappa (d_hat - d)^2 / d_hat, here with kappa = inertia / d^2 + stiffness at d itself.
TEST(Barrier, TheCubicOneHasItsForceAndDerivatives) {
  const double d_hat = 0.7, h = 1e-6;
  for (const ContactResistance& own :
       {ContactResistance{Real(0.3), 0}, ContactResistance{0, 5}, ContactResistance{Real(0.3), 5}})
    for (double d = 0.05; d < 0.69; d += 0.01) {
      SCOPED_TRACE(d);
      const auto value = [&](double at) {
        return static_cast<double>(cubic_barrier(static_cast<Real>(at), static_cast<Real>(d_hat), own));
      };
      const auto jet = [&](double at) {
        return cubic_barrier_jet(static_cast<Real>(at), static_cast<Real>(d_hat), own);
      };
      const double kappa = own.inertia / (d * d) + own.stiffness;
      const double tolerance = sizeof(Real) == 8 ? 1e-7 : 0.1;
      EXPECT_NEAR(jet(d).first, -2 * kappa * (d_hat - d) * (d_hat - d) / d_hat, 1e-5 * kappa);
      EXPECT_GT(jet(d).value, 0);
      EXPECT_GT(jet(d).second, 0);
      if (sizeof(Real) < 8) continue;
      EXPECT_NEAR(jet(d).first, (value(d + h) - value(d - h)) / (2 * h), tolerance * (1 + kappa));
      EXPECT_NEAR(jet(d).second, (jet(d + h).first - jet(d - h).first) / (2 * h),
                  tolerance * (1 + kappa / d));
    }
}

TEST(Barrier, TheCubicOneEndsAtDHatAndGrowsWithoutBoundIfThereIsInertia) {
  const Real d_hat = Real(1e-3);
  const ContactResistance own{Real(1e-6), 100};
  const Jet2<Real> inside = cubic_barrier_jet(d_hat * Real(0.999), d_hat, own);
  const Jet2<Real> outside = cubic_barrier_jet(d_hat, d_hat, own);
  EXPECT_EQ(outside.value, 0);
  EXPECT_EQ(outside.first, 0);
  EXPECT_EQ(outside.second, 0);
  EXPECT_NEAR(inside.second, 4 * own.at(d_hat) * 1e-3, 1e-2 * 4 * own.at(d_hat) * 1e-3);
  EXPECT_EQ(cubic_barrier(Real(0), d_hat, own), std::numeric_limits<Real>::infinity());
  EXPECT_GT(cubic_barrier(Real(1e-12), d_hat, own), 1e2);
}

TEST(Barrier, ACubicPotentialWithAMultiplierIsSmoothAndEnds) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  ContactPotential potential(Real(0.5), 0, Real(0.6));
  potential.own = {Real(0.2), 2};
  const double h = 1e-6, least = potential.own.at(Real(0.5));
  EXPECT_NEAR(potential.tail(), std::max(least, 0.6 / 0.5), 1e-12);
  for (double d = 0.02; d < 1.1; d += 0.0123) {
    if (std::abs(d - 0.5) < 2 * h || std::abs(d - potential.reach()) < 2 * h) continue;
    SCOPED_TRACE(d);
    const Jet2<Real> jet = potential.jet(d);
    EXPECT_NEAR(jet.first, (potential.value(d + h) - potential.value(d - h)) / (2 * h),
                1e-6 * (1 + std::abs(jet.first)));
    EXPECT_NEAR(jet.second, (potential.jet(d + h).first - potential.jet(d - h).first) / (2 * h),
                1e-6 * (1 + std::abs(jet.second)));
  }
  const Jet2<Real> before = potential.jet(0.5 - h), after = potential.jet(0.5 + h);
  EXPECT_NEAR(before.value, after.value, 4 * h);
  EXPECT_NEAR(before.first, after.first, 10 * h);
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
