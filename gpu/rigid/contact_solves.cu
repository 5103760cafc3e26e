// RigidStepper: the solution of a step's contact problems, which friction rounds repeat.
#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/trace.h"
#include "gpu/dfcp/solvers/solvers.cuh"
#include "gpu/rigid/law_report.h"
#include "gpu/rigid/rigid_stepper.cuh"
#include "gpu/rigid/step_scales.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// 1 for a contact that did not exist in the last step.
struct IsFresh {
  const RigidContact* contact;
  SS_HD int operator()(std::size_t c) const { return contact[c].previous < 0 ? 1 : 0; }
};

/// Makes every contact its own predecessor.
struct SetOwnPredecessor {
  RigidContact* contact;
  SS_HD void operator()(std::size_t c) const { contact[c].previous = static_cast<std::int32_t>(c); }
};

/// Whether manifold_gs made so many iterations without an end that another solver should go on. Few
/// iterations are a limit that a running scene sets on purpose.
bool stalls(const ContactSolveRecord& record, const LabParams& lab, double seconds) {
  constexpr long kMany = 1000;
  return record.residual > lab.tolerance && record.iterations >= kMany &&
         (lab.time_budget <= 0 || seconds < lab.time_budget);
}

}  // namespace

/// Number of contacts that did not exist in the last step. One host read.
std::size_t RigidStepper::fresh_contacts(Context& ctx) {
  reduce_sum(ctx, contacts_.count(), IsFresh{contacts_.contacts()}, fresh_.data(), kMedium);
  return static_cast<std::size_t>(read_back(ctx, fresh_.data()));
}

template <int D>
void RigidStepper::solve(Context& ctx, ContactSystem<D>& system, const Params& params, const LabParams& asked,
                         StageClock& clock, StepReport& report) {
  const Span span(ctx, "contact problem");
  ContactSolveRecord& record = *report.contact_solve;
  // Where nsgs takes the place of another solver, it reads what that one reads.
  LabParams lab = asked;
  lab.joint_block = asked.joint_block && (params.contact_solver == ContactSolverKind::nsgs ||
                                          params.contact_solver == ContactSolverKind::pgs);
  penalties_ = params.contact_solver == ContactSolverKind::penalty_explicit;
  last_ = constraints(params, lab);
  const bool anchored = (penalties_ || last_.soft) && last_.penalty.anchored();
  if (anchored) {
    anchors_.begin(ctx, last_.contacts, last_.contact_count);
    last_.anchors = anchors_.start();
  } else {
    anchors_.drop();
    last_.anchors = {};
  }
  system.set_cancel(cancel_);
  system.start_friction();
  if (coupling_.active()) solve_among_solids(ctx, system, params, lab, report);
  else solve_bodies(ctx, system, params, lab, clock, report);
  if (anchored)
    system.advance_anchors(ctx, coupling_.active() ? coupling_.staged() : bodies_, last_, penalties_,
                           anchors_);
  if (checks_law()) {
    const DeviceBodies& bodies = coupling_.active() ? coupling_.staged() : bodies_;
    system.check_law(ctx, bodies, last_, {joints_.jointed(), bodies_.size(), !params.shock_propagation},
                     held_, cohesion_, &summary_.data()->judge);
  }
  clock.lap(report.seconds.contact_solve);
  record.blocks = static_cast<int>(system.blocks());
  report_convergence(lab, params, report);
}

/// The solver that finds the impulses, and why it is not the chosen one.
std::string_view RigidStepper::solver_in_use(const Params& params, std::string& why_not) const {
  const ContactSolverInfo& chosen = contact_solver_info(params.contact_solver);
  if (rolls() && !chosen.has(SolverTrait::rolling)) {
    why_not = std::string(chosen.name) + " refuses (" + rolling_refusal() + "): nsgs took its place";
    return "nsgs";
  }
  if (!last_.lags || !has_tensors_ || (chosen.law != "box" && chosen.law != "polyhedral")) return chosen.name;
  why_not = std::string(chosen.name) +
            " refuses (friction tensors need cones with elliptic sections): nsgs took its place";
  return "nsgs";
}

/// With explicit penalties, of what they leave: their impulses are loads of the solids, and the contact
/// problem has the joints alone.
template <int D>
void RigidStepper::solve_among_solids(Context& ctx, ContactSystem<D>& system, const Params& params,
                                      const LabParams& lab, StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  const bool by_penalty = penalties_ || last_.soft;
  std::string why_not;
  const std::string_view solver = by_penalty ? "nsgs" : solver_in_use(params, why_not);
  const StageClock since_start;
  const StepConstraints pushed = last_;
  if (penalties_) {
    coupling_.push_penalties(ctx, system, bodies_, last_, &summary_.data()->penalty_steepness);
    last_.contact_count = last_.of_solids = last_.pairs = 0;
  }
  CouplingRecord done = solve_coupled(ctx, system, solver, params, lab, report);
  settle_friction(ctx, system, solver, params, lab, since_start, done, report);
  if (penalties_) {
    coupling_.check_equations(ctx, &summary_.data()->solids);
    last_ = pushed;
    coupling_.return_contacts(ctx, bodies_, last_);
  }
  if (params.penetration_guard)
    prevent_crossings(ctx, system, solver, params, lab, since_start, done, report);
  if (params.penetration_guard || params.admm_search_every > 0)
    cohesion_.refer_to(coupling_.contacts(), coupling_.touching().points());
  if (record.guard && record.guard->solves > 0)
    record.linearisation_error |= coupling_.solids().linearisation_error(ctx).is_large();
  if (corrects_positions(params))
    correct_positions(ctx, system, solver, params, lab, since_start, done, report);
  if (!why_not.empty() && record.message.empty()) record.message = why_not;
  report.pcg_iterations = done.pcg_iterations;
  record.rounds = done.rounds;
  record.dual_solves = done.dual.solves;
  record.dual_iterations = done.dual.iterations;
  report.seconds.linear_solve += done.linear_seconds;
  report.seconds.contact_solve -= done.linear_seconds;  // the stage that they are in
  pcg_stop_ = done.pcg_stop;
  if (checks_law()) coupling_.check(ctx, system, cohesion_.pulls(), &summary_.data()->solids);
}

template <int D>
void RigidStepper::solve_bodies(Context& ctx, ContactSystem<D>& system, const Params& params,
                                const LabParams& lab, StageClock& clock, StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  StepConstraints solved = last_;
  if (penalties_) {
    system.push_penalties(ctx, bodies_, last_, &summary_.data()->penalty_steepness);
    solved.contact_count = 0;
  }
  std::string why_not;
  const std::string_view solver = solver_in_use(params, why_not);
  const bool remembered = system.remembers_contacts();
  // A new structure, as in the first step of a scene, gets more iterations than later steps: errors in its
  // impulses would move all of it. The same holds for a structure that springs held until now.
  const bool is_cold = params.cold_start_iterations > 0 && solved.contact_count >= bodies_.moving() &&
                       (!remembered || 10 * fresh_contacts(ctx) > 9 * contacts_.count());
  const StageClock since_start;
  solve_once(ctx, system, solved, solver, params, lab, is_cold, clock, report);
  LabParams left = lab;
  for (; last_.lags; ++record.friction_rounds) {
    record.friction_change = system.update_friction(ctx, bodies_, last_);
    if (!may_settle(record, params, lab, since_start, left)) break;
    // The contacts are those of the last solve, whose impulses this one starts from.
    same_contacts_.resize(ctx, solved.contact_count);
    copy(ctx, same_contacts_.data(), last_.contacts, solved.contact_count);
    launch(ctx, solved.contact_count, SetOwnPredecessor{same_contacts_.data()});
    solved.contacts = same_contacts_.data();
    solved.warm_start = true;
    system.start_velocities(ctx, bodies_);
    const long before = record.iterations;
    solve_once(ctx, system, solved, solver, params, left, false, clock, report);
    record.iterations += before;
  }
  if (record.message.empty()) record.message = why_not;
  if (params.shock_propagation && system.blocks() > 0) system.propagate_shocks(ctx, bodies_);
}

/// Whether coefficients of friction change so much that the step needs another round, and has one. `left`
/// gets the time that is left.
bool RigidStepper::may_settle(const ContactSolveRecord& record, const Params& params, const LabParams& lab,
                              const StageClock& since_start, LabParams& left) {
  if (!(record.friction_change > lab.tolerance) || record.friction_rounds >= params.friction_rounds)
    return false;
  if (!(lab.time_budget > 0)) return true;
  left.time_budget = lab.time_budget - since_start.seconds_since_start();
  return left.time_budget > 0;
}

/// One contact problem of rigid bodies, and the velocities that its impulses lead to.
template <int D>
void RigidStepper::solve_once(Context& ctx, ContactSystem<D>& system, const StepConstraints& list,
                              std::string_view solver, const Params& params, const LabParams& lab,
                              bool is_cold, StageClock& clock, StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  const LabParams cold = cold_start_params(params, lab);
  const bool wanted = solver == "manifold_gs";
  std::string why_not;
  if (wanted) {
    system.build_manifolds(ctx, bodies_, list);
    clock.lap(report.seconds.assembly);
    const StageClock since_solve;
    if (is_cold) system.solve_manifolds(ctx, cold, record);
    system.solve_manifolds(ctx, lab, record);
    why_not = record.message;
    if (!std::isfinite(record.residual)) {
      system.forget();
      why_not = "it diverges";
    }
    const double seconds = since_solve.seconds_since_start();
    if (why_not.empty() && stalls(record, lab, seconds))
      system.finish_manifolds(ctx, bodies_, "newton_al", substitute_params(lab, seconds), record);
  }
  if (!wanted || !why_not.empty()) {
    system.build(ctx, bodies_, list);
    clock.lap(report.seconds.assembly);
    if (is_cold) system.solve(ctx, bodies_, "apgd", cold, record);
    const bool by_penalty = penalties_ || last_.soft;
    system.solve(ctx, bodies_, by_penalty || wanted ? "nsgs" : solver, lab, record);
    if (wanted) record.message = manifolds_refused(why_not);
  }
  system.velocities(ctx, bodies_);
}

template void RigidStepper::solve(Context&, ContactSystem<3>&, const Params&, const LabParams&, StageClock&,
                                  StepReport&);
template void RigidStepper::solve(Context&, ContactSystem<4>&, const Params&, const LabParams&, StageClock&,
                                  StepReport&);
template void RigidStepper::solve(Context&, ContactSystem<5>&, const Params&, const LabParams&, StageClock&,
                                  StepReport&);

}  // namespace stickslip::STICKSLIP_BACKEND
