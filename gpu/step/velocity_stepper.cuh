// VelocityStepper: the Stepper of the velocity family, for rigid bodies and elastic solids.
#pragma once

#include "gpu/model/overlap_check.h"
#include "gpu/rigid/rigid_stepper.cuh"
#include "gpu/step/stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// RigidStepper advances bodies and solids; the nodes follow them.
class VelocityStepper final : public Stepper {
 public:
  VelocityStepper(Context& ctx, const Model& model);

  std::string check_start(const Params& params) override;
  void update_materials() override;
  void wake() override { rigid_.wake(); }
  void set_cancel(const std::atomic<bool>* flag) override { rigid_.set_cancel(flag); }
  StepReport step(const StepSettings& settings) override;
  State state() override;
  void set_state(const State& state, const Params& params) override;
  void contact_records(const Params& params, std::vector<ContactRecord>& out) override;
  std::vector<Pose> poses() override { return rigid_.bodies().pose.download(ctx_); }
  std::vector<std::uint8_t> asleep() override { return rigid_.asleep(ctx_); }
  void append_trees(std::vector<TreeBox>& out) override { rigid_.append_trees(ctx_, out); }
  void node_stiffness(std::vector<float>& out) override {
    if (frame() > 0) rigid_.solids().node_stiffness(ctx_, out);
  }
  MatrixParts matrix_parts(std::int32_t most_cells) override {
    return frame() > 0 ? rigid_.solids().matrix_parts(ctx_, most_cells) : MatrixParts{};
  }
  ContactProblem freeze() override { return rigid_.freeze(ctx_); }

 private:
  void place_nodes();
  void check_overlap(StepReport& report);

  RigidStepper rigid_;
  std::optional<OverlapCheck> overlap_check_;  // allocated by the first step with a check
};

}  // namespace stickslip::STICKSLIP_BACKEND
