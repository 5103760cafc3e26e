// Newmark: the accelerations of a step by Newmark's rule, in addition to TimeStepper's
// positions and velocities.
#pragma once

#include "gpu/barrier/incremental_potential.cuh"

namespace stickslip {

inline bool is_newmark(const Params& params) { return params.time_integrator == TimeIntegrator::newmark; }

/// [s] Velocity at the end of a step: (x - still) / velocity_dt. Valid for backward Euler too (still = x_t).
inline double velocity_dt(const Params& params) {
  return is_newmark(params) ? params.newmark_beta / params.newmark_gamma * params.dt : params.dt;
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// [Li20, supplement], with a_{t+1} from M a_{t+1} = forces at x_{t+1}:
///   x_{t+1} = x_t + dt v_t + dt^2 ((1/2 - beta) a_t + beta a_{t+1}),
///   v_{t+1} = v_t + dt ((1 - gamma) a_t + gamma a_{t+1}).
/// Deviation: friction and damping act on v_{t+1} instead of (x_{t+1} - x_t) / dt. v_{t+1} is linear in
/// x_{t+1}: v_{t+1} = (x_{t+1} - still) / velocity_dt with velocity_dt = beta dt / gamma. Accelerations are a
/// state of the stepper. They are recomputed from the forces at x_t after a jump (load, reset, a state set
/// from outside), after backward Euler, and when a script releases nodes. Ghosts of rods with quasistatic
/// twist have none, and the mean velocity of the step: by Newmark's rule, which does not damp, they would
/// swing about the equilibrium that they are to be in.
class Newmark {
 public:
  void load(Context& ctx, const Model& model);
  bool has_accelerations() const { return has_accelerations_; }
  void forget() { has_accelerations_ = false; }
  /// [m] end positions at which nodes have zero velocity.
  const Vec3* still() const { return still_.data(); }

  /// Computes accelerations at x_t and v_t, in two parts. The first sets x, y and target so that inertia and
  /// springs have no force: the potential's gradient is then that of elasticity and contact alone.
  void begin_forces(Context& ctx, const DeviceModel& device, const Params& params, const DeviceState& state,
                    Vec3* x, Vec3* y, Vec3* target);
  /// a_t = M^-1 (forces) of the free nodes, with `potential` linearised at x_t. Affine bodies have the masses
  /// of their control nodes.
  void finish_forces(Context& ctx, const DeviceModel& device, IncrementalPotential& potential);

  /// Computes y and `still`. A scripted node that reaches its target has its script's mean velocity, and
  /// nodes that follow others have what follows from theirs.
  void predict(Context& ctx, const DeviceModel& device, const Params& params, const Embedding& embedding,
               const DeviceState& state, const Vec3* target, Vec3* y);
  /// Scripted nodes pulled by springs may stay in place: their velocity there is zero.
  void rest_scripts(Context& ctx, const DeviceModel& device, const Embedding& embedding,
                    const DeviceState& state);
  /// Computes v_{t+1} and a_{t+1}; `accept` stores the latter.
  void update_velocities(Context& ctx, const DeviceModel& device, const Params& params,
                         const Embedding& embedding, const DeviceState& state, const Vec3* x, Vec3* v);
  void accept() { acceleration_.swap(next_acceleration_); }

 private:
  bool has_accelerations_ = false;  // acceleration_ is that of the state
  Buffer<Vec3> acceleration_;       // a_t [m/s^2]
  Buffer<Vec3> next_acceleration_;  // at the end of the step
  Buffer<Vec3> still_;
  bool has_euler_ = false;
  Buffer<std::uint8_t> euler_;  // per node: 1 at ghosts of rods with quasistatic twist
};

}  // namespace stickslip::STICKSLIP_BACKEND
