#include "gpu/step/stepper.cuh"

#include "gpu/step/barrier_stepper.cuh"
#include "gpu/step/velocity_stepper.cuh"

namespace stickslip::STICKSLIP_BACKEND {

State Stepper::state() {
  State out;
  out.frame = nodes_.frame;
  out.time = nodes_.time;
  out.positions.reserve(nodes_.x.size());
  out.velocities.reserve(nodes_.v.size());
  for (const Vec3& x : nodes_.x.download(ctx_)) out.positions.push_back(x.cast<double>());
  for (const Vec3& v : nodes_.v.download(ctx_)) out.velocities.push_back(v.cast<double>());
  return out;
}

void Stepper::check_nodes(const State& state) const {
  const std::size_t n = model_.node_count();
  if (state.positions.size() != n || state.velocities.size() != n)
    throw std::invalid_argument("set_state: the model has " + std::to_string(n) + " nodes");
}

std::unique_ptr<Stepper> make_stepper(SolverKind solver, Context& ctx, const Model& model) {
  switch (stepper_family(solver)) {
    case StepperFamily::barrier:
      return std::make_unique<BarrierStepper>(ctx, model);
    case StepperFamily::velocity:
      return std::make_unique<VelocityStepper>(ctx, model);
  }
  throw std::logic_error("make_stepper: a family without a stepper");
}

}  // namespace stickslip::STICKSLIP_BACKEND
