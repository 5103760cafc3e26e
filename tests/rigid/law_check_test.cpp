// The terms of the laws for single contacts, compared with cases solved by hand.
#include "gpu/rigid/law_check.h"

#include <gtest/gtest.h>

#include <limits>

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

TEST(LawCheck, ANumberThatIsNotFiniteIsTheWorst) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LawCheck broken = law_terms(contact({0, 1, 0}, {0, nan, 0})),
                 fine = law_terms(contact({0, 1, 0}, {0, 0, 0}));
  EXPECT_TRUE(std::isnan(worse(fine, broken).approach));
  EXPECT_TRUE(std::isnan(worse(broken, fine).approach));
}

}  // namespace
}  // namespace stickslip
