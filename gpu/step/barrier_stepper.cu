#include "gpu/step/barrier_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

BarrierStepper::BarrierStepper(Context& ctx, const Model& model) : Stepper(ctx, model) {
  device_.upload(ctx_, model_);
  stepper_.load(ctx_, model_, device_);
}

std::string BarrierStepper::check_start(const Params&) {
  stepper_.check_start(ctx_, model_, device_, nodes_);
  return {};
}

void BarrierStepper::update_materials() {
  device_.upload_materials(ctx_, model_);
  stepper_.set_materials(ctx_, model_, device_);
}

StepReport BarrierStepper::step(const StepSettings& settings) {
  return stepper_.step(ctx_, model_, device_, settings.params, settings.drag, nodes_);
}

void BarrierStepper::set_state(const State& state, const Params& params) {
  check_nodes(state);
  std::vector<Vec3> x, v;
  for (const auto& p : state.positions) x.push_back(p.cast<Real>());
  for (const auto& p : state.velocities) v.push_back(p.cast<Real>());
  nodes_.x.upload(ctx_, x);
  nodes_.v.upload(ctx_, v);
  stepper_.follow_control_nodes(ctx_, nodes_);
  nodes_.frame = state.frame;
  nodes_.time = state.time;
  device_.forget_acting(ctx_);
  device_.select_acting(ctx_, model_, nodes_.time, params.dt, nodes_.x.data());
  stepper_.forget_history();
}

void BarrierStepper::contact_records(const Params& params, std::vector<ContactRecord>& out) {
  stepper_.contact_records(ctx_, device_, params, nodes_, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
