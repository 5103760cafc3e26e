#include "gpu/rigid/law_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace stickslip {
namespace {

/// Solvers whose friction is a box: |r_i| <= mu_i r_N along each tangent.
bool has_box_law(ContactSolverKind kind) { return contact_solver_info(kind).law == "box"; }

/// Solvers of a law with other sections than ellipses.
bool has_flat_cone(ContactSolverKind kind) {
  return has_box_law(kind) || contact_solver_info(kind).law == "polyhedral";
}

constexpr double kShare = 1e-6;  // of momentum that may be missing: of the largest impulse, or of all

/// Of the solids' velocities, as far as the parameters state it.
double solids_tolerance(const Params& params) {
  const bool reads =
      params.linear_solver == LinearSolverKind::pcg &&
      (params.pcg_stop == PcgCriterion::relative || params.pcg_stop == PcgCriterion::euclidean);
  return reads ? params.pcg_tolerance : 0;
}

const char* pcg_fault(PcgStop stop) {
  switch (stop) {
    case PcgStop::stagnated:
      return "PCG stagnated";
    case PcgStop::iteration_cap:
      return "PCG ran out of iterations";
    case PcgStop::indefinite:
      return "the matrix is indefinite";
    default:
      return "their equations are not solved";
  }
}

void add_fault(const std::string& text, StepReport& report) {
  report.stop_reason = report.stop_reason == "converged" ? text : report.stop_reason + "; " + text;
  report.converged = false;
}

}  // namespace

void report_convergence(const LabParams& lab, const Params& params, StepReport& report) {
  const ContactSolveRecord& record = *report.contact_solve;
  const bool rounds = record.linearisations > 0,  // of several contact problems, whose iterations add up
      complete = !rounds || (record.linearisations >= params.linearisations && !record.linearisation_error),
             out_of_time = lab.time_budget > 0 && report.seconds.contact_solve >= lab.time_budget &&
                           (rounds || record.iterations < lab.max_iterations);
  const bool settled = record.friction_change <= lab.tolerance;
  report.converged = complete && settled && !record.splitting_unfinished && record.residual <= lab.tolerance;
  report.stopped_by_budget =
      !report.converged && !record.linearisations_diverge && !record.linearisation_error && out_of_time;
  report.stop_reason = record.linearisations_diverge
                           ? "linearisations diverge: the first one took their place"
                       : record.linearisation_error
                           ? "the linearised elastic forces create energy: dt is too long for this motion"
                       : !record.message.empty() ? record.message
                       : record.splitting_unfinished && !report.stopped_by_budget
                           ? "nodal_integrator = admm ended before admm_tolerance: take more admm_iterations"
                       : report.converged         ? "converged"
                       : report.stopped_by_budget ? "budget"
                       : !settled                 ? "friction coefficients do not settle"
                                                  : "out of iterations";
}

void report_law(const LawCheck& law, const Params& params, StepReport& report) {
  constexpr double kRounding = 1e-12;  // of the bodies' momentum
  ContactSolveRecord& record = *report.contact_solve;
  record.law = law;
  record.dissipation = -law.friction_work / params.dt;
  const double outside = std::max(kShare, record.tolerance) * law.impulse + kRounding * law.momentum_size,
               count = 1.0 + report.contacts;
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

void report_friction(const Params& params, StepReport& report) {
  constexpr double kFactor = 5;  // the solver's residual and what coefficients still change add up
  const ContactSolveRecord& record = *report.contact_solve;
  const StepJudgement& judged = *report.judgement;
  // A solver's residual is relative to the rows of joints, too.
  const double scale = judged.scale > 0 ? std::max(1.0, record.scale / judged.scale) : 1.0;
  if (has_flat_cone(params.contact_solver) || !report.converged ||
      judged.residual <= kFactor * record.tolerance * scale)
    return;
  report.converged = false;
  const std::string broken = "friction disagrees with its coefficients";
  report.stop_reason = record.message.empty() ? broken : record.message + "; " + broken;
}

void report_solid_equations(const SolidsCheck& solids, PcgStop pcg, const Params& params,
                            StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  record.solids_residual = solids.balance.residual();
  if (record.solids_residual <= std::max({kShare, record.tolerance, solids_tolerance(params)})) return;
  add_fault(std::string("elastic solids: ") + pcg_fault(pcg), report);
}

void report_solids(const SolidsCheck& solids, PcgStop pcg, const Params& params, StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  const double missing = solids.momentum.unexplained(),
               tolerance = std::max({kShare, record.tolerance, solids_tolerance(params)});
  record.solids_residual = solids.balance.residual();
  for (LawCheck* law : {&*record.law, &report.judgement->law})
    law->momentum = law_check_detail::larger(law->momentum, missing);
  const bool solved = record.solids_residual <= tolerance,
             balanced = missing <= tolerance * solids.momentum.moved + solids.momentum.rounding;
  if (solved && balanced) return;
  std::string broken = "elastic solids: ";
  broken += solved ? "momentum does not balance" : pcg_fault(pcg);
  report.stop_reason = report.stop_reason == "converged" ? broken : report.stop_reason + "; " + broken;
  report.converged = false;
}

void report_penalties(double steepness, double decays, const Params& params, StepReport& report) {
  if (!(steepness > decays)) return;
  char text[120];
  std::snprintf(text, sizeof text,
                "penalty_explicit: dt is too long for the spring of a contact, which limits its force: take "
                "%.2g s",
                std::sqrt(decays / steepness) * params.dt);
  add_fault(text, report);
}

void report_guard(const Params& params, StepReport& report) {
  const std::optional<GuardRecord>& guard = report.contact_solve->guard;
  if (!guard || !(guard->cut > params.contact_slop)) return;
  const std::string text = "penetration_guard: a motion stopped short of a crossing";
  report.stop_reason = report.stop_reason == "converged" ? text : report.stop_reason + "; " + text;
  report.converged = false;
}

}  // namespace stickslip
