// BarrierStepper: the Stepper of the barrier family (ipc, barrier_al).
#pragma once

#include <memory>

#include "gpu/model/barrier_model.h"
#include "gpu/step/stepper.cuh"
#include "gpu/step/stiff_bodies.cuh"
#include "gpu/step/time_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// Without rigid bodies TimeStepper advances the model itself, otherwise its barrier model (barrier_model.h),
/// from which the poses and drawn surfaces are computed.
class BarrierStepper final : public Stepper {
 public:
  BarrierStepper(Context& ctx, const Model& model);

  /// Also throws if bodies still overlap after set_state. The note states how set_state separated the others.
  std::string check_start(const Params& params) override;
  void check_state() override;
  void update_materials() override;
  void set_cancel(const std::atomic<bool>* flag) override;
  StepReport step(const StepSettings& wanted) override;
  State state() override;
  /// Elastic solids that are a little behind half-spaces are moved in front of them. Without rigid bodies
  /// that holds only for nodes that are not where the scene starts, see check_start. With rigid bodies, opens
  /// gaps that are too small for a barrier: the skins of bodies that overlap grow by factors of 1.5 until no
  /// gap is below kOpenGap d_hat. Poses do not change, so that positions are continuous, and drawn surfaces
  /// overlap until the bodies separate. If skins cannot grow that far, projection first moves the bodies
  /// apart. Thin objects that overlap collide as if they were thinner, see open_thin_gaps, and grow back.
  void set_state(const State& state, const Params& params) override;
  void contact_records(const Params& params, std::vector<ContactRecord>& out) override;
  std::vector<Pose> poses() override;
  void append_trees(std::vector<TreeBox>& out) override {
    if (stepper_) stepper_->append_trees(ctx_, out);
  }
  void node_stiffness(std::vector<float>& out) override {
    if (!stepper_) return;
    stepper_->node_stiffness(ctx_, out);
    if (!out.empty()) out.resize(model_.node_count());  // without the control nodes of rigid bodies
  }
  MatrixParts matrix_parts(std::int32_t most_cells) override {
    return stepper_ ? stepper_->matrix_parts(ctx_, most_cells) : MatrixParts{};
  }

 private:
  static constexpr double kOpenGap = 0.02;

  bool has_bodies() const { return !model_.bodies.empty(); }
  const Model& moving_model() const { return has_bodies() ? barrier_.model : model_; }
  DeviceState& moving() { return has_bodies() ? moving_ : nodes_; }

  void load_model();
  void place(const State& state, const Params& params);
  void load_bodies(const std::vector<double>& skins, const Params& params);
  void place_bodies(const State& state, const Params& params);
  bool place_as_left(const State& state, const Params& params);
  State lifted(State state, double below, const Params& params);
  State push_apart(const State& state, const Params& params);
  bool widen_skins(const Params& params);
  void open_thin_gaps(bool given, const Params& params);
  bool thin_objects_are_near(double gap, std::vector<bool>& near);
  void scale_thickness();
  void grow_thickness(const Params& params);
  StepReport step_nodes_or_bodies(const StepSettings& settings);
  void follow_bodies(double dt);
  StepReport step_bodies(const StepSettings& settings);
  StepReport step_attempts(const StepSettings& settings);

  DeviceModel device_;
  std::unique_ptr<TimeStepper> stepper_;
  const std::atomic<bool>* cancel_ = nullptr;

  // Of scenes with rigid bodies.
  BarrierModel barrier_;
  std::vector<double> skins_;   // [m] per body
  bool too_near_ = false;       // a skin could not grow far enough
  double pushed_ = 0;           // [m] by which projection moved a centre
  double lifted_ = 0;           // [m] by which an elastic node was moved out of a half-space
  double tessellation_ = 0;     // of barrier_
  double wanted_skin_ = 0;      // [m] from which skins_ grew
  std::vector<double> shares_;  // per object, see State::thickness
  std::vector<bool> widened_;   // per body: its skin is larger than contact_skin asks for
  StiffBodies bodies_;
  DeviceState moving_, kept_;  // of the barrier model: now, and before the step
  ConstraintMemory joints_before_;
  double dt_ = 1;          // [s] of the last step
  double stiffening_ = 1;  // factor on the stiffness of bodies that follows from strain_bound
  double strain_ = 0;      // the largest of the last step
  double rigidity_ = 0;    // factor that was passed to TimeStepper::set_rigidity
};

}  // namespace stickslip::STICKSLIP_BACKEND
