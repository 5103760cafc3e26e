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

/// A solved problem whose coefficients of friction still change by `change`; the judge has `residual`.
StepReport settled(double change, double residual, ContactSolverKind solver = ContactSolverKind::nsgs,
                   double scale_of_joints = 0) {
  StepReport report;
  report.contact_solve.emplace();
  report.contact_solve->residual = 1e-4;
  report.contact_solve->tolerance = 1e-3;
  report.contact_solve->friction_change = change;
  report.judgement.emplace();
  report.judgement->residual = residual;
  report.judgement->scale = 1;
  report.contact_solve->scale = scale_of_joints;
  LabParams lab;
  lab.tolerance = 1e-3;
  Params params;
  params.contact_solver = solver;
  report_convergence(lab, params, report);
  report_friction(params, report);
  return report;
}

TEST(LawReport, FrictionCoefficientsThatStillChangeAreNoConvergence) {
  EXPECT_TRUE(settled(5e-4, 2e-3).converged);
  EXPECT_EQ(settled(2e-3, 2e-3).stop_reason, "friction coefficients do not settle");
  EXPECT_FALSE(settled(2e-3, 2e-3).converged);
  EXPECT_EQ(settled(5e-4, 2e-2).stop_reason, "friction disagrees with its coefficients");
  EXPECT_FALSE(settled(5e-4, 2e-2).converged);
  EXPECT_TRUE(settled(5e-4, 2e-2, ContactSolverKind::pgs).converged) << "a box is not a cone";
  EXPECT_TRUE(settled(5e-4, 2e-2, ContactSolverKind::lemke).converged) << "nor is a pyramid";
  EXPECT_TRUE(settled(5e-4, 2e-2, ContactSolverKind::nsgs, 10).converged) << "relative to the solver's |q|";
  EXPECT_FALSE(settled(5e-4, 2e-2, ContactSolverKind::nsgs, 2).converged);
}

}  // namespace
}  // namespace stickslip
