#include "gpu/rigid/law_report.h"

#include <algorithm>
#include <string>

namespace stickslip {
namespace {

/// Solvers whose friction is a box: |r_i| <= mu_i r_N along each tangent.
bool has_box_law(ContactSolverKind kind) { return contact_solver_info(kind).law == "box"; }

}  // namespace

void report_convergence(const LabParams& lab, bool rounds, StepReport& report) {
  const ContactSolveRecord& record = *report.contact_solve;
  report.converged = record.residual <= lab.tolerance;
  report.stopped_by_budget = !report.converged && lab.time_budget > 0 &&
                             report.seconds.contact_solve >= lab.time_budget &&
                             (rounds || record.iterations < lab.max_iterations);
  report.stop_reason = !record.message.empty()    ? record.message
                       : report.converged         ? "converged"
                       : report.stopped_by_budget ? "budget"
                                                  : "out of iterations";
}

void report_law(const LawCheck& law, const Params& params, StepReport& report) {
  constexpr double kShare = 1e-6;      // of the largest impulse
  constexpr double kRounding = 1e-12;  // of the bodies' momentum
  ContactSolveRecord& record = *report.contact_solve;
  record.law = law;
  record.dissipation = -law.friction_work / params.dt;
  const double outside = std::max(kShare, record.tolerance) * law.impulse, count = 1.0 + report.contacts;
  const double lever = law.impulse > 0 ? law.torque / law.impulse : 0;
  const bool in_cone = law.pull <= outside && (has_box_law(params.contact_solver) || law.cone <= outside);
  const bool balanced = law.momentum <= kShare * count * law.impulse + kRounding * law.momentum_size,
             turns = law.angular_momentum <= kShare * count * (law.torque + lever * law.impulse) +
                                                 kRounding * law.momentum_size * (1 + lever);
  if (in_cone && balanced && turns) return;
  report.converged = false;
  const std::string broken = !in_cone   ? "impulses lie outside their cones"
                             : balanced ? "angular momentum does not balance"
                                        : "momentum does not balance";
  report.stop_reason = record.message.empty() ? broken : record.message + "; " + broken;
}

}  // namespace stickslip
