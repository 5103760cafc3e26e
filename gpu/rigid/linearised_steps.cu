// RigidStepper: the contact problems of a step with elastic solids.
#include "gpu/rigid/rigid_stepper.cuh"
#include "gpu/rigid/step_scales.h"

namespace stickslip::STICKSLIP_BACKEND {

// Linearisations beyond those that the parameters ask for, where the linearised forces create energy.
constexpr int kMoreLinearisations = 4;

/// One contact problem for each linearisation of the elastic forces. The time budget is that of all: once it
/// is spent, no further one begins. Linearisations are Newton's method without a line search, which may
/// diverge. They have where one changes velocities by more than the first one did. The first one is then
/// solved again, from no impulses.
template <int D>
CouplingRecord RigidStepper::solve_coupled(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                                           const Params& params, const LabParams& lab, StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  const double time = report.time - params.dt;
  CouplingRecord total;
  LabParams left = lab;
  const StageClock clock;
  const auto solve = [&](const StepConstraints& list) {
    total += solve_searched(ctx, system, list, solver, left, params, record);
  };
  const auto is_out_of_time = [&] {
    if (!(lab.time_budget > 0)) return false;
    left.time_budget = lab.time_budget - clock.seconds_since_start();
    return !(left.time_budget > 0);
  };
  keep_start(ctx);
  solve(last_);
  record.linearisations = 1;
  double first = 0;
  for (;;) {
    record.linearisation_error = false;
    if (record.linearisations >= params.linearisations) {
      record.linearisation_error = coupling_.solids().linearisation_error(ctx).is_large();
      if (!record.linearisation_error || record.linearisations >= params.linearisations + kMoreLinearisations)
        return total;
    }
    if (is_out_of_time()) return total;
    if (record.linearisations == 1) first = coupling_.solids().first_change(ctx, least_speed(params));
    coupling_.solids().relinearise(ctx);
    return_to_start(ctx);
    solve(last_);
    ++record.linearisations;
    if (coupling_.solids().further_change(ctx) <= first) continue;
    coupling_.start_again(ctx, time);
    return_to_start(ctx);
    StepConstraints cold = last_;
    cold.warm_start = false;
    left.time_budget = lab.time_budget;
    solve(cold);
    record.linearisations = 1;
    record.linearisations_diverge = true;
    return total;
  }
}

/// After a solve: rounds for coefficients of friction that depend on the solution, in `total`. Solves with
/// the last linearisation.
template <int D>
void RigidStepper::settle_friction(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                                   const Params& params, const LabParams& lab, const StageClock& since_start,
                                   CouplingRecord& total, StepReport& report) {
  if (!last_.lags) return;
  ContactSolveRecord& record = *report.contact_solve;
  LabParams left = lab;
  for (;; ++record.friction_rounds) {
    record.friction_change = system.update_friction(ctx, coupling_.staged(), last_);
    if (!may_settle(record, params, lab, since_start, left)) return;
    coupling_.solids().return_to_start(ctx);
    return_to_start(ctx);
    last_ = constraints(params, lab);
    last_.warm_start = true;
    total += solve_searched(ctx, system, last_, solver, left, params, record);
  }
}

void RigidStepper::keep_start(Context& ctx) {
  const std::size_t n = bodies_.size();
  start_velocity_.resize(ctx, n);
  start_spin_.resize(ctx, n);
  copy(ctx, start_velocity_.data(), bodies_.velocity.data(), n);
  copy(ctx, start_spin_.data(), bodies_.spin.data(), n);
}

void RigidStepper::return_to_start(Context& ctx) {
  copy(ctx, bodies_.velocity.data(), start_velocity_.data(), bodies_.size());
  copy(ctx, bodies_.spin.data(), start_spin_.data(), bodies_.size());
}

template void RigidStepper::settle_friction(Context&, ContactSystem<3>&, std::string_view, const Params&,
                                            const LabParams&, const StageClock&, CouplingRecord&,
                                            StepReport&);
template void RigidStepper::settle_friction(Context&, ContactSystem<4>&, std::string_view, const Params&,
                                            const LabParams&, const StageClock&, CouplingRecord&,
                                            StepReport&);
template void RigidStepper::settle_friction(Context&, ContactSystem<5>&, std::string_view, const Params&,
                                            const LabParams&, const StageClock&, CouplingRecord&,
                                            StepReport&);
template CouplingRecord RigidStepper::solve_coupled(Context&, ContactSystem<3>&, std::string_view,
                                                    const Params&, const LabParams&, StepReport&);
template CouplingRecord RigidStepper::solve_coupled(Context&, ContactSystem<4>&, std::string_view,
                                                    const Params&, const LabParams&, StepReport&);
template CouplingRecord RigidStepper::solve_coupled(Context&, ContactSystem<5>&, std::string_view,
                                                    const Params&, const LabParams&, StepReport&);

}  // namespace stickslip::STICKSLIP_BACKEND
