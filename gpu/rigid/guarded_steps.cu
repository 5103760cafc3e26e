// Coupling and RigidStepper: the parts of a step with penetration_guard.
#include <algorithm>

#include "gpu/core/launch.h"
#include "gpu/rigid/rigid_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

// Of the margin of contacts: the gap that they keep.
constexpr double kKeptShare = 0.1;

/// Contacts c from `begin` on: the gap less what the contact keeps.
void subtract_kept(Context& ctx, std::size_t begin, std::size_t end, const KeptGaps& kept,
                   RigidContact* contact) {
  launch(ctx, end - begin, [=] SS_LAMBDA(std::size_t i) { contact[begin + i].gap -= kept.of(begin + i); });
}

}  // namespace

/// Without penetration_guard, the end of a step is not searched for intersections.
void Coupling::begin_guard(Context& ctx, double margin, Keeping keeping) {
  keep_ = keeping != Keeping::nothing ? kKeptShare * touching_.meshes().margin(margin) : 0;
  searched_ = {};
  if (keeping != Keeping::guarded) guard_.forget();
  if (keeping != Keeping::nothing) guard_.begin(ctx, guard_input(0));
}

void Coupling::keep_gaps(Context& ctx, std::size_t begin) {
  subtract_kept(ctx, begin, contacts_.size(), kept_gaps(), contacts_.data());
}

PenetrationGuard::Input Coupling::guard_input(double dt) {
  return {&solids_.device(),
          &solids_.embedding(),
          solids_.x.data(),
          solids_.v.data(),
          dt,
          keep_,
          shapes_,
          motion_};
}

/// The contacts so far are their own predecessors (see `solve`), so that impulses start from those of the
/// last solve.
void Coupling::add_crossings(Context& ctx, const PenetrationGuard::Crossings& count) {
  const std::size_t before = contacts_.size(), total = count.total();
  const BodyGuard& bodies = guard_.with_bodies();
  touching_.add(ctx, count.between_meshes, guard_.contacts(), guard_.points(), 2, bodies_, solids_.device());
  touching_.add(ctx, count.with_bodies, bodies.contacts(), bodies.points(), 1, bodies_, solids_.device());
  contacts_.extend(ctx, before + total);
  copy(ctx, contacts_.data() + before, touching_.contacts() + touching_.count() - total, total);
  keep_gaps(ctx, before);
  solids_.return_to_start(ctx);
  has_guess_ = false;
}

/// One contact problem. With admm_search_every it is interrupted where the motion found so far would cross
/// something, which then becomes contacts; `last_` is the list with these.
template <int D>
CouplingRecord RigidStepper::solve_searched(Context& ctx, ContactSystem<D>& system,
                                            const StepConstraints& list, std::string_view solver,
                                            const LabParams& lab, const Params& params,
                                            ContactSolveRecord& record) {
  constexpr double kLeastBudget = 1e-6;  // [s] of what is left: the problem has to be ended
  const StageClock clock;
  LabParams left = lab;
  CouplingRecord total = coupling_.solve(ctx, system, bodies_, list, solver, left, params, record);
  while (coupling_.is_interrupted()) {
    if (lab.time_budget > 0)
      left.time_budget = std::max(kLeastBudget, lab.time_budget - clock.seconds_since_start());
    coupling_.add_found(ctx);
    return_to_start(ctx);
    last_ = constraints(params, lab);
    last_.warm_start = true;
    total += coupling_.solve(ctx, system, bodies_, last_, solver, left, params, record);
  }
  return total;
}

/// With penetration_guard: what crosses on the way to the end becomes contacts of a further problem, with the
/// linearisation of the last one. The time budget is that of all problems. What still crosses after the last
/// one stops short (PenetrationGuard).
template <int D>
void RigidStepper::prevent_crossings(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                                     const Params& params, const LabParams& lab,
                                     const StageClock& since_start, CouplingRecord& total,
                                     StepReport& report) {
  constexpr int kFurtherSolves = 3;
  ContactSolveRecord& record = *report.contact_solve;
  GuardRecord& guard = record.guard.emplace();
  LabParams left = lab;
  for (;;) {
    const PenetrationGuard::Crossings crossings = coupling_.find_crossings(ctx, params.dt);
    if (crossings.total() == 0) return;
    if (lab.time_budget > 0) left.time_budget = lab.time_budget - since_start.seconds_since_start();
    if (guard.solves == kFurtherSolves || (lab.time_budget > 0 && !(left.time_budget > 0))) return;
    coupling_.add_crossings(ctx, crossings);
    return_to_start(ctx);
    last_ = constraints(params, lab);
    last_.warm_start = true;
    total += solve_searched(ctx, system, last_, solver, left, params, record);
    settle_friction(ctx, system, solver, params, lab, since_start, total, report);
    ++guard.solves;
    guard.crossings += static_cast<int>(crossings.total());
  }
}

template CouplingRecord RigidStepper::solve_searched(Context&, ContactSystem<3>&, const StepConstraints&,
                                                     std::string_view, const LabParams&, const Params&,
                                                     ContactSolveRecord&);
template CouplingRecord RigidStepper::solve_searched(Context&, ContactSystem<4>&, const StepConstraints&,
                                                     std::string_view, const LabParams&, const Params&,
                                                     ContactSolveRecord&);
template CouplingRecord RigidStepper::solve_searched(Context&, ContactSystem<5>&, const StepConstraints&,
                                                     std::string_view, const LabParams&, const Params&,
                                                     ContactSolveRecord&);
template void RigidStepper::prevent_crossings(Context&, ContactSystem<3>&, std::string_view, const Params&,
                                              const LabParams&, const StageClock&, CouplingRecord&,
                                              StepReport&);
template void RigidStepper::prevent_crossings(Context&, ContactSystem<4>&, std::string_view, const Params&,
                                              const LabParams&, const StageClock&, CouplingRecord&,
                                              StepReport&);
template void RigidStepper::prevent_crossings(Context&, ContactSystem<5>&, std::string_view, const Params&,
                                              const LabParams&, const StageClock&, CouplingRecord&,
                                              StepReport&);

}  // namespace stickslip::STICKSLIP_BACKEND
