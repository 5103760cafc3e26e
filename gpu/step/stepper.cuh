// Stepper: advances everything that moves in a model, whatever method does it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"
#include "gpu/model/device_model.cuh"
#include "gpu/model/interaction.h"
#include "gpu/model/report.h"
#include "gpu/model/state.h"
#include "gpu/model/steppers.h"
#include "gpu/params/lab_params.h"

namespace stickslip::STICKSLIP_BACKEND {

/// What one step is made with.
struct StepSettings {
  const Params& params;
  const LabParams& contact;         // of the contact solvers of velocity-level stepping
  const std::optional<Drag>& drag;  // the pointer's spring
};

/// One model in backend memory, its state, and a method that advances it. What a method cannot move and which
/// parameters it reads is said without a stepper: `stepper_refusal`, `list_solvers` (gpu/model/steppers.h).
/// The state goes from one stepper to another as `State`.
class Stepper {
 public:
  /// For a model that `stepper_refusal` does not refuse. The model must outlive the stepper; its bodies,
  /// elements and joints stay, its materials, half-spaces and pairs may change (see update_materials). There
  /// is no state until `set_state`.
  Stepper(Context& ctx, const Model& model) : ctx_(ctx), model_(model) {}
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  /// Whether a step can begin from the state at hand. Throws std::invalid_argument naming the objects where
  /// none can; returns what a user should know of it, mostly nothing.
  virtual std::string check_start(const Params& params) = 0;
  /// Takes materials, half-spaces and friction pairs from the model again.
  virtual void update_materials() = 0;
  /// After an edit of parameters or materials: wakes sleeping bodies, whose rest it may end.
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
  /// Forgets what was learnt from earlier steps. Throws std::invalid_argument where the sizes are not the
  /// model's.
  virtual void set_state(const State& state, const Params& params) = 0;

  /// Of the last step; `params` are those it was made with.
  virtual void contact_records(const Params& params, std::vector<ContactRecord>& out) = 0;
  /// Of all rigid bodies.
  virtual std::vector<Pose> poses() { return {}; }
  /// Per body, 1 while it sleeps; empty: no body does.
  virtual std::vector<std::uint8_t> asleep() { return {}; }
  /// See Engine::freeze.
  virtual ContactProblem freeze() {
    throw std::logic_error("freeze: the scene has no velocity-level contact problem");
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
