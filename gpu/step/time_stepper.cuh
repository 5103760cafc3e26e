// TimeStepper: one implicit step, backward Euler or Newmark, by incremental potential contact.
#pragma once

#include <limits>
#include <optional>

#include "gpu/barrier/barrier_judge.cuh"
#include "gpu/barrier/barrier_newton.cuh"
#include "gpu/broadphase/intersections.cuh"
#include "gpu/model/interaction.h"
#include "gpu/model/state.h"
#include "gpu/step/newmark.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Per step [Guo24 Alg.1 without augmentation]: predict; move scripted nodes; minimise the incremental
/// potential; update velocities; report. The state changes only when the whole step succeeded.
/// Newmark's rule: see newmark.cuh.
class TimeStepper {
 public:
  void load(Context& ctx, const Model& model, const DeviceModel& device);
  void set_materials(Context& ctx, const Model& model, const DeviceModel& device);
  /// See IncrementalPotential.
  void set_rigidity(Context& ctx, const Model& model, double factor) {
    potential_.set_rigidity(ctx, model, factor);
  }
  /// See Engine::set_cancel.
  void set_cancel(const std::atomic<bool>* flag) { newton_.set_cancel(flag); }

  /// Throws std::invalid_argument if nodes are behind half-spaces, or edges go through triangles. Barriers
  /// would keep both as they are.
  void check_apart(Context& ctx, const Model& model, const DeviceModel& device, const DeviceState& state);
  /// Throws std::invalid_argument naming the objects when bodies intersect or touch at the start, or when a
  /// node is behind a half-space.
  void check_start(Context& ctx, const Model& model, const DeviceModel& device, const DeviceState& state);
  /// Pairs of objects (-1: a half-space) that intersect or have a gap below `gap` [m]; unsorted, a pair may
  /// occur several times.
  std::vector<Vec2i> close_objects(Context& ctx, const Model& model, const DeviceModel& device,
                                   const DeviceState& state, Real gap, bool half_spaces = true);
  /// Drops data from earlier steps: after a reset, or after the state is set from outside.
  void forget_history();
  /// What a step takes from the one before besides the state. Not in it: multipliers of joints, from which
  /// the next minimisation starts (see save_joints), and Newmark's accelerations, which are computed again
  /// after `return_to`.
  struct History {
    Real stiffness = 0;                                         // of the barrier [N/m]; 0: none yet
    double gravity = std::numeric_limits<double>::quiet_NaN();  // [m/s^2] of `energy`; NaN: unknown
    double energy = 0;                                          // [J] at the end of the last step
  };
  const History& history() const { return history_; }
  /// [N], see ConstraintTerms.
  std::vector<Vec<double, 3>> joint_multipliers(Context& ctx) {
    return potential_.constraints().multipliers(ctx);
  }
  /// `restore_joints` makes the memory of joints what it was at `save_joints`.
  void save_joints(Context& ctx, ConstraintMemory& to) { potential_.constraints().save(ctx, to); }
  void restore_joints(Context& ctx, const ConstraintMemory& from) {
    potential_.constraints().restore(ctx, from);
  }
  /// After forget_history: what the last step left, as far as it fits.
  void recall(Context& ctx, const BarrierMemory& memory);
  /// Before a step is repeated from the state at its start, with the history as it was then.
  void return_to(const History& history);

  /// Moves the mesh nodes of affine bodies with their control nodes, in positions and velocities.
  void follow_control_nodes(Context& ctx, DeviceState& state) const;

  /// Advances `state` by params.dt, with the scripts and forces of that interval. Throws SimulationError,
  /// with the state and the multipliers of joints unchanged.
  StepReport step(Context& ctx, const Model& model, DeviceModel& device, const Params& params,
                  const std::optional<Drag>& drag, DeviceState& state);

  /// The active contacts at the end of the last step.
  void contact_records(Context& ctx, const DeviceModel& device, const Params& params,
                       const DeviceState& state, std::vector<ContactRecord>& out);
  /// See BroadPhase.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const { newton_.append_trees(ctx, out); }
  /// See Snapshot::stiffness, per node of the model. One host read.
  void node_stiffness(Context& ctx, std::vector<float>& out) const;
  /// See Snapshot::matrix.
  MatrixParts matrix_parts(Context& ctx, std::int32_t most_cells) const {
    return potential_.matrix_parts(ctx, most_cells);
  }

 private:
  // Stages of a step.
  StepReport try_step(Context& ctx, const Model& model, DeviceModel& device, const Params& params,
                      const std::optional<Drag>& drag, DeviceState& state);
  void check_before(Context& ctx, const Model& model, DeviceModel& device, const Params& params,
                    const DeviceState& state);
  void begin_contacts(Context& ctx, const DeviceModel& device, const Params& params, const StepInputs& inputs,
                      const ContactSettings& settings);
  void follow_frames(Context& ctx, const Model& model, const DeviceState& state, double time);
  StepInputs step_inputs(const Params& params, const DeviceState& state) const;
  void start_accelerations(Context& ctx, const DeviceModel& device, const Params& params,
                           const ContactSettings& contact, const DeviceState& state);
  void predict(Context& ctx, const Model& model, const DeviceModel& device, const Params& params,
               const DeviceState& state);
  void update_velocities(Context& ctx, const DeviceModel& device, const Params& params,
                         const DeviceState& state);
  /// x_ += way.
  void go(Context& ctx, const DeviceModel& device, const Vec3* way);
  // In move_scripts.cu.
  bool move_scripts(Context& ctx, const DeviceModel& device, const Params& params, const DeviceState& state,
                    StageClock& clock, StepReport& report);
  const Vec3* common_way(Context& ctx, const DeviceModel& device, const Params& params,
                         const DeviceState& state);
  const Vec3* find_common_way(Context& ctx, const DeviceModel& device, const Params& params,
                              const DeviceState& state, StageClock& clock, StepReport& report);
  bool is_free(Context& ctx, const DeviceModel& device, const Params& params, const Vec3* way,
               const DeviceState& state, StageClock& clock, StepReport& report);
  void check_released(Context& ctx, const Model& model, const DeviceModel& device, const DeviceState& state);
  DragSpring attach(Context& ctx, const Params& params, const std::optional<Drag>& drag,
                    const DeviceState& state);
  void minimise(Context& ctx, const DeviceModel& device, const Params& params, StageClock& clock,
                StepReport& report);
  void hold_joints(Context& ctx, const DeviceModel& device, const Params& params, StageClock& clock,
                   StepReport& report);
  void forget_energy() { history_.gravity = std::numeric_limits<double>::quiet_NaN(); }
  void choose_stiffness(Context& ctx, const DeviceModel& device, const Params& params);
  void finish(Context& ctx, const DeviceModel& device, const Params& params, const StepInputs& inputs,
              DeviceState& state, StageClock& clock, StepReport& report);
  JudgedStep judged(const Params& params, const StepInputs& inputs, const DeviceState& state) const;

  IncrementalPotential potential_;
  BarrierNewton newton_;
  BarrierJudge judge_;
  IntersectionCheck intersections_;
  Newmark newmark_;
  History history_;
  ConstraintMemory joints_before_;  // of a step
  Buffer<Vec3> x_, y_, target_, script_step_, velocity_;
  Buffer<RigidPose> poses_;
  Buffer<std::int32_t> frame_nodes_;  // of one script's sequence
  Buffer<Vec3> frame_targets_;
  Buffer<double> sums_;
  Buffer<Vec3> held_;  // positions of the drag's corners
};

}  // namespace stickslip::STICKSLIP_BACKEND
