// Stepper: interface of all methods that advance a model.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/linear/matrix_parts.h"
#include "gpu/model/device_model.cuh"
#include "gpu/model/interaction.h"
#include "gpu/model/report.h"
#include "gpu/model/state.h"
#include "gpu/model/steppers.h"
#include "gpu/model/tree_box.h"
#include "gpu/params/lab_params.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The settings of one step.
struct StepSettings {
  const Params& params;
  const LabParams& contact;         // of the contact solvers of velocity-level stepping
  const std::optional<Drag>& drag;  // the mouse spring
};

/// One model in backend memory, its state, and a method that advances it. `stepper_refusal` and
/// `list_solvers` (gpu/model/steppers.h) need no stepper: they return why a method refuses a model, and the
/// parameters that it reads. `State` transfers the state from one stepper to another.
class Stepper {
 public:
  /// For a model that `stepper_refusal` accepts. The model must outlive the stepper. Its bodies, elements and
  /// joints must not change; its materials, half-spaces and friction pairs may (see update_materials). There
  /// is no state until `set_state`.
  Stepper(Context& ctx, const Model& model) : ctx_(ctx), model_(model) {}
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  /// Checks that a step can start from the current state. Throws std::invalid_argument naming the objects if
  /// it cannot; returns a note for the user, usually empty.
  virtual std::string check_start(const Params& params) = 0;
  /// The same of a state that may come from a step: gaps may be as small as steps make them. Throws where
  /// surfaces intersect, if steps would not take that back.
  virtual void check_state() {}
  /// Reloads materials, half-spaces and friction pairs from the model.
  virtual void update_materials() = 0;
  /// After an edit of parameters or materials: wakes sleeping bodies, since the edit may end their rest.
  virtual void wake() {}
  /// While `flag` is set, `step` throws StepInterrupted; nullptr: never.
  virtual void set_cancel(const std::atomic<bool>* flag) = 0;

  /// Advances by params.dt. Throws SimulationError and StepInterrupted, with the state unchanged.
  virtual StepReport step(const StepSettings& settings) = 0;

  int frame() const { return nodes_.frame; }
  double time() const { return nodes_.time; }
  /// [m] of all nodes of the model, in backend memory.
  const Vec3* positions() const { return nodes_.x.data(); }

  virtual State state();
  /// Drops data from earlier steps. Throws std::invalid_argument if the sizes are not those of the model.
  virtual void set_state(const State& state, const Params& params) = 0;

  /// Contacts of the last step; `params`: those of that step.
  virtual void contact_records(const Params& params, std::vector<ContactRecord>& out) = 0;
  /// Poses of all rigid bodies.
  virtual std::vector<Pose> poses() { return {}; }
  /// Per body, 1 while it sleeps; empty: all are awake.
  virtual std::vector<std::uint8_t> asleep() { return {}; }
  /// Appends the boxes of the trees in which the last step found contacts.
  virtual void append_trees(std::vector<TreeBox>& out) = 0;
  /// See Snapshot::stiffness; `out` is empty before.
  virtual void node_stiffness(std::vector<float>& out) = 0;
  /// See Snapshot::matrix.
  virtual MatrixParts matrix_parts(std::int32_t most_cells) = 0;
  /// See Engine::freeze.
  virtual ContactProblem freeze() {
    throw std::logic_error("barrier steps have no contact problem at velocity level");
  }

 protected:
  void check_nodes(const State& state) const;

  Context& ctx_;
  const Model& model_;
  DeviceState nodes_;
};

/// The stepper that `solver` chooses, with the model loaded.
std::unique_ptr<Stepper> make_stepper(SolverKind solver, Context& ctx, const Model& model);

}  // namespace stickslip::STICKSLIP_BACKEND
