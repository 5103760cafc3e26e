// RigidStepper: steps with geometric_correction = position.
#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/rigid/rigid_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

bool RigidStepper::corrects_positions(const Params& params) const {
  return params.geometric_correction == GeometricCorrection::position && coupling_.active() && !penalties_ &&
         !last_.soft && error_feedback(params).share > 0;
}

/// The contact problem of `last_` lets overlaps as they are, and leads to the velocities at the end of the
/// step. A second one with the same contacts, forces and laws also takes overlaps back. Its velocities move
/// the positions, and are dropped then. So the displacement that it adds, dt A^-1 H' dr, is that of impulses:
/// it moves no centre of mass of free objects, and strains them as little as these do. Skipped where no
/// overlap exceeds contact_slop. One or two host reads more.
template <int D>
void RigidStepper::correct_positions(Context& ctx, ContactSystem<D>& system, std::string_view solver,
                                     const Params& params, const LabParams& lab,
                                     const StageClock& since_start, CouplingRecord& total,
                                     StepReport& report) {
  ContactSolveRecord& record = *report.contact_solve;
  const ContactRowOptions options = contact_row_options(params);
  reduce(ctx, last_.contact_count, GapOf{last_.contacts, {}}, WiderExtremes{}, GapExtremes{}, deepest_.data(),
         kMedium);
  if (!(read_back(ctx, deepest_.data()).penetration > options.feedback.slop)) return;
  if (!std::isfinite(record.residual)) return;
  LabParams left = lab;
  if (lab.time_budget > 0) left.time_budget = lab.time_budget - since_start.seconds_since_start();
  if (lab.time_budget > 0 && !(left.time_budget > 0)) return;

  // The elastic forces are those of the last linearisation.
  Params once = params;
  once.nodal_integrator = NodalIntegrator::newton;
  once.admm_search_every = 0;
  StepConstraints list = last_;
  list.options = options;
  list.warm_start = true;
  const PcgStop stop = total.pcg_stop;
  coupling_.set_aside();
  coupling_.solids().return_to_start(ctx);
  return_to_start(ctx);
  ContactSolveRecord of_positions;
  total += coupling_.solve(ctx, system, bodies_, list, solver, left, once, of_positions);
  total.pcg_stop = stop;
  corrected_.resize(ctx, bodies_.size(), coupling_.solids().size());
  corrected_.take(ctx, bodies_, coupling_.solids());
  is_corrected_ = true;
  last_.warm_start = true;
  coupling_.bring_back(ctx, system, bodies_, last_, params, record);
  record.iterations += of_positions.iterations;
}

void RigidStepper::Motion::resize(Context& ctx, std::size_t bodies, std::size_t nodes) {
  velocity.resize(ctx, bodies);
  spin.resize(ctx, bodies);
  v.resize(ctx, nodes);
}

void RigidStepper::Motion::take(Context& ctx, const DeviceBodies& bodies, const ElasticSolids& solids) {
  copy(ctx, velocity.data(), bodies.velocity.data(), velocity.size());
  copy(ctx, spin.data(), bodies.spin.data(), spin.size());
  copy(ctx, v.data(), solids.v.data(), v.size());
}

void RigidStepper::Motion::give(Context& ctx, DeviceBodies& bodies, ElasticSolids& solids) const {
  copy(ctx, bodies.velocity.data(), velocity.data(), velocity.size());
  copy(ctx, bodies.spin.data(), spin.data(), spin.size());
  copy(ctx, solids.v.data(), v.data(), v.size());
}

/// Advances by the velocities of correct_positions. A guard stops what would cross on this way.
void RigidStepper::advance_corrected(Context& ctx, double dt, const std::uint8_t* asleep,
                                     GuardRecord* guard) {
  ended_.resize(ctx, bodies_.size(), coupling_.solids().size());
  ended_.take(ctx, bodies_, coupling_.solids());
  corrected_.give(ctx, bodies_, coupling_.solids());
  if (guard != nullptr) coupling_.find_crossings(ctx, dt);
  is_corrected_ = false;
  advance(ctx, dt, asleep, guard);
  ended_.give(ctx, bodies_, coupling_.solids());
}

template void RigidStepper::correct_positions(Context&, ContactSystem<3>&, std::string_view, const Params&,
                                              const LabParams&, const StageClock&, CouplingRecord&,
                                              StepReport&);
template void RigidStepper::correct_positions(Context&, ContactSystem<4>&, std::string_view, const Params&,
                                              const LabParams&, const StageClock&, CouplingRecord&,
                                              StepReport&);
template void RigidStepper::correct_positions(Context&, ContactSystem<5>&, std::string_view, const Params&,
                                              const LabParams&, const StageClock&, CouplingRecord&,
                                              StepReport&);

}  // namespace stickslip::STICKSLIP_BACKEND
