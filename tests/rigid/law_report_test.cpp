#include "gpu/rigid/law_report.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

/// A converged step of two contacts, judged by these errors [N s].
StepReport judged(double impulse, double cone, double momentum_size) {
  StepReport report;
  report.contacts = 2;
  report.converged = true;
  report.contact_solve.emplace();
  report.contact_solve->tolerance = 1e-3;
  LawCheck law{};
  law.impulse = impulse;
  law.cone = cone;
  law.momentum_size = momentum_size;
  report_law(law, Params{}, report);
  return report;
}

TEST(LawReport, AnImpulseOutsideItsConeIsNoConvergence) {
  EXPECT_TRUE(judged(1, 1e-4, 400).converged);
  const StepReport outside = judged(1, 0.1, 400);
  EXPECT_FALSE(outside.converged);
  EXPECT_EQ(outside.stop_reason, "impulses lie outside their cones");
}

/// Bodies that fall side by side have impulses of 1e-22 N s, which are rounding errors of their momentum.
TEST(LawReport, ImpulsesAtRoundingBreakNoLaw) { EXPECT_TRUE(judged(7.7e-23, 7.7e-23, 404).converged); }

}  // namespace
}  // namespace stickslip
