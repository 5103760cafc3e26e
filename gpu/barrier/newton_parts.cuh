// What the minimisations of barriers and of constraints share: scales of tolerances, the budget, errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "gpu/barrier/barrier_newton.cuh"
#include "gpu/barrier/contact_terms.cuh"
#include "gpu/core/stage_clock.h"
#include "gpu/model/device_model.cuh"
#include "gpu/model/report.h"
#include "gpu/params/params.h"

namespace stickslip::STICKSLIP_BACKEND {

inline bool is_over_budget(const Params& params, const StageClock& clock) {
  return params.budget_ms > 0 && clock.seconds_since_start() * 1e3 > params.budget_ms;
}

template <class Values>
double total(const Values& values) {
  return std::accumulate(std::begin(values), std::end(values), 0.0);
}

[[noreturn]] inline void throw_not_finite(const char* what, const StepReport& report, int iteration) {
  throw SimulationError(std::string(what) + " is not finite in step " + std::to_string(report.frame) +
                        ", Newton iteration " + std::to_string(iteration) +
                        "; the state is back at the end of the step before");
}

/// Enters the norms of a Newton direction, and the contacts that it was found with. Throws SimulationError if
/// the gradient or the direction is not finite; `record` has PCG's residual.
inline void record_direction(const ContactTerms& contacts, const NewtonNorms& norms, double dt,
                             const StepReport& report, NewtonRecord& record) {
  record.gradient_norm = std::sqrt(norms.gradient2);
  record.step_norm = norms.step / dt;
  record.contacts = static_cast<int>(contacts.set().active_count());
  record.augmented = static_cast<int>(contacts.augmented().size());
  record.barrier_stiffness = contacts.stiffness();
  if (record.contacts > 0) record.gap_min = contacts.set().min_gap();
  if (!std::isfinite(record.gradient_norm))
    throw_not_finite("the gradient", report, report.newton_iterations);
  if (!std::isfinite(record.pcg_residual))
    throw_not_finite("the Newton direction", report, report.newton_iterations);
}

/// What newton_tolerance is relative to for momenta [m/s]. A body that begins to slide or to fall gains
/// gravity times dt in a step, however large the scene is.
inline double gravity_scale(const DeviceModel& device, const Params& params) {
  const double diagonal = device.diagonal;
  if (params.gravity == 0 && device.node_body.size() == 0) return diagonal;
  return std::min(diagonal, std::max(std::abs(params.gravity) * params.dt, params.eps_v));
}

/// What it is relative to for Newton steps [m/s]. Without rigid bodies nodes may move by more than momenta
/// are wrong, since elements are deformed.
inline double speed_scale(const DeviceModel& device, const Params& params) {
  return device.node_body.size() == 0 ? device.diagonal : gravity_scale(device, params);
}

}  // namespace stickslip::STICKSLIP_BACKEND
