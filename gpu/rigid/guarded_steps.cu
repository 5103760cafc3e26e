// Coupling and RigidStepper: the parts of a step with penetration_guard.
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

void Coupling::begin_guard(Context& ctx, double margin, bool on) {
  keep_ = on ? kKeptShare * touching_.meshes().margin(margin) : 0;
  if (on) guard_.begin(ctx, guard_input(0));
  else guard_.forget();
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
    total += coupling_.solve(ctx, system, bodies_, last_, solver, left, params, record);
    settle_friction(ctx, system, solver, params, lab, since_start, total, report);
    ++guard.solves;
    guard.crossings += static_cast<int>(crossings.total());
  }
}

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
