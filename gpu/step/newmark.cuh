// Newmark: the accelerations of a step by Newmark's rule, beside TimeStepper's positions and velocities.
#pragma once

#include "gpu/barrier/incremental_potential.cuh"

namespace stickslip {

inline bool is_newmark(const Params& params) { return params.time_integrator == TimeIntegrator::newmark; }

/// [s] The velocity at the end of a step is (x - still) / velocity_dt, by backward Euler too (still = x_t).
inline double velocity_dt(const Params& params) {
  return is_newmark(params) ? params.newmark_beta / params.newmark_gamma * params.dt : params.dt;
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// [Li20, supplement], with a_{t+1} from M a_{t+1} = forces at x_{t+1}:
///   x_{t+1} = x_t + dt v_t + dt^2 ((1/2 - beta) a_t + beta a_{t+1}),
///   v_{t+1} = v_t + dt ((1 - gamma) a_t + gamma a_{t+1}).
/// Unlike there, friction and damping resist v_{t+1} instead of (x_{t+1} - x_t) / dt. It is linear in
/// x_{t+1}: v_{t+1} = (x_{t+1} - still) / velocity_dt with velocity_dt = beta dt / gamma. Accelerations are
/// a state of the stepper: after a jump (load, reset, a state from outside), after backward Euler and when a
/// script lets go they start from the forces at x_t.
class Newmark {
 public:
  bool has_accelerations() const { return has_accelerations_; }
  void forget() { has_accelerations_ = false; }
  /// [m] where a node that ends the step there has no velocity.
  const Vec3* still() const { return still_.data(); }

  /// Accelerations at x_t and v_t, in two parts. The first puts x, y and target where neither inertia nor
  /// springs have a force, so that the potential's gradient is that of elasticity and contact alone.
  void begin_forces(Context& ctx, const DeviceModel& device, const Params& params, const DeviceState& state,
                    Vec3* x, Vec3* y, Vec3* target);
  /// a_t = M^-1 (forces) of the free nodes, with `potential` linearised at x_t; the masses of affine bodies
  /// are their control nodes'.
  void finish_forces(Context& ctx, const DeviceModel& device, IncrementalPotential& potential);

  /// y, and `still`. A scripted node that arrives at its target has its script's mean velocity.
  void predict(Context& ctx, const DeviceModel& device, const Params& params, const DeviceState& state,
               const Vec3* target, Vec3* y);
  /// Scripted nodes that springs pull may stay where they are: there they are at rest.
  void rest_scripts(Context& ctx, const DeviceModel& device, const DeviceState& state);
  /// v_{t+1}, and a_{t+1}, which `accept` makes the state's.
  void update_velocities(Context& ctx, const DeviceModel& device, const Params& params,
                         const DeviceState& state, const Vec3* x, Vec3* v);
  void accept() { acceleration_.swap(next_acceleration_); }

 private:
  bool has_accelerations_ = false;  // of the state
  Buffer<Vec3> acceleration_;       // a_t [m/s^2]
  Buffer<Vec3> next_acceleration_;  // of the step's end
  Buffer<Vec3> still_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
