// The islands that BarrierNewton leaves alone.
#include "gpu/barrier/barrier_newton.cuh"
#include "gpu/core/host_view.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Whether islands may settle in a minimisation. Multipliers, limits of all contacts, and a gradient relative
/// to that of the whole scene concern all islands.
bool BarrierNewton::may_settle(IncrementalPotential& potential, const Params& params) const {
  return !STICKSLIP_ON_CUDA && params.linear_solver == LinearSolverKind::pcg &&
         params.solver == SolverKind::ipc && params.newton_stop == NewtonStop::displacement &&
         params.friction_update == FrictionUpdate::newton && params.contact_limit == 0 &&
         potential.constraints().empty() && !potential.inputs().scripts_blocked;
}

/// Finds out which islands settle, after an iteration that ended at x. Returns whether flags changed.
bool BarrierNewton::follow_islands(Context& ctx, IncrementalPotential& potential, const DeviceModel& device,
                                   const Tolerance& tolerance, const Vec3* x, const NewtonRecord& record,
                                   StageClock& clock, StageTimes& seconds) {
  const ContactSet& set = potential.contacts().set();
  islands_.connect(ctx, set.nodes(), set.active_count());
  clock.lap(seconds.contacts);
  if (walked_ && islands_.asks_for_balance()) {
    // The next iteration begins with the same linearisation, if flags do not change.
    linearise(ctx, potential, tolerance.is_near(record), x);
    is_linearised_ = true;
    launch_imbalance(ctx, potential, device);
    islands_.rebalance(ctx, balance_, limits_of(potential, tolerance));
    clock.lap(seconds.assembly);
  }
  return islands_.update(ctx, walked_);
}

/// [J] of the contacts at the x of their last update.
double BarrierNewton::contact_energy(Context& ctx, IncrementalPotential& potential, const Vec3* x) {
  double* out = search_.data()->before;
  potential.launch_contact_values(ctx, near_, x, out);
  std::vector<double> copy;
  const std::span<const double> values = host_view(ctx, out, IncrementalPotential::term_count, copy);
  return values[IncrementalPotential::barrier] + values[IncrementalPotential::augmentation] +
         values[IncrementalPotential::friction];
}

/// Takes up the islands that are settled now: what x has of energies and contacts.
void BarrierNewton::take_islands(Context& ctx, IncrementalPotential& potential, const Vec3* x,
                                 BarrierSchedule& schedule) {
  ContactTerms& contacts = potential.contacts();
  is_linearised_ = false;
  const auto other_energy = [](const IncrementalPotential::Values& values) {
    return values[IncrementalPotential::inertia] + values[IncrementalPotential::elastic] +
           values[IncrementalPotential::springs];
  };
  const int all = settled_contacts_ + static_cast<int>(contacts.set().active_count());
  const double before = at_x_ ? other_energy(*at_x_) + contact_energy(ctx, potential, x) : 0;
  potential.settle(islands_.flags());
  near_.settled = islands_.flags();
  const bool known = at_x_.has_value();
  at_x_ = potential.values(ctx, near_, x);
  contacts.update(ctx, near_, x, true);
  // Frozen friction is that of the contacts that were seen when it was frozen.
  if (schedule.is_frozen()) contacts.update_friction(ctx, x);
  settled_contacts_ = all - static_cast<int>(contacts.set().active_count());
  const double after = other_energy(*at_x_) + contact_energy(ctx, potential, x);
  settled_energy_ = islands_.flags() != nullptr && known ? settled_energy_ + before - after : 0;
  schedule.follow_contacts();
}

/// Whether an island that moves has touched one that is settled: then that one moves again.
bool BarrierNewton::wakes_islands(Context& ctx, IncrementalPotential& potential) {
  if (islands_.flags() == nullptr) return false;
  const ContactSet& set = potential.contacts().set();
  islands_.connect(ctx, set.nodes(), set.active_count());
  return islands_.update(ctx, false);
}

/// At the end of a minimisation everything is seen again.
void BarrierNewton::release_islands(Context& ctx, IncrementalPotential& potential, const Vec3* x) {
  settles_ = false;
  settled_energy_ = settled_contacts_ = 0;
  if (!islands_.release()) return;
  potential.settle(nullptr);
  near_.settled = nullptr;
  potential.contacts().update(ctx, near_, x);
}

}  // namespace stickslip::STICKSLIP_BACKEND
