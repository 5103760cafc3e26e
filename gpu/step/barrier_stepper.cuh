// BarrierStepper: the Stepper of the barrier family (ipc, barrier_al).
#pragma once

#include "gpu/step/stepper.cuh"
#include "gpu/step/time_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class BarrierStepper final : public Stepper {
 public:
  BarrierStepper(Context& ctx, const Model& model);

  std::string check_start(const Params& params) override;
  void update_materials() override;
  void set_cancel(const std::atomic<bool>* flag) override { stepper_.set_cancel(flag); }
  StepReport step(const StepSettings& settings) override;
  void set_state(const State& state, const Params& params) override;
  void contact_records(const Params& params, std::vector<ContactRecord>& out) override;

 private:
  DeviceModel device_;
  TimeStepper stepper_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
