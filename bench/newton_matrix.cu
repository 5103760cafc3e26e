#include "bench/newton_matrix.h"

#include <algorithm>
#include <stdexcept>

#include "gpu/barrier/incremental_potential.cuh"
#include "gpu/broadphase/broadphase.cuh"

namespace stickslip::STICKSLIP_BACKEND {

NewtonSystem newton_system(const Model& model, const Params& params, const State& state, int threads) {
  if (std::ranges::any_of(model.objects, [](const Object& o) { return o.is_affine() || o.is_rigid(); }))
    throw std::invalid_argument("newton_system: bodies that keep their shape");
  Context ctx(threads);
  DeviceModel device;
  device.upload(ctx, model);
  IncrementalPotential potential;
  potential.load(ctx, model, device);
  potential.hessian().keep_stiffness(true);

  NewtonSystem out;
  std::vector<Vec3> y;
  const double dt = params.dt;
  for (std::size_t i = 0; i < model.node_count(); ++i) {
    out.positions.push_back(state.positions[i].cast<Real>());
    const Vec<double, 3> fall{0, dt * dt * params.gravity, 0};
    y.push_back((state.positions[i] + dt * state.velocities[i] + fall).cast<Real>());
  }
  const Buffer<Vec3> x(ctx, out.positions), free(ctx, y);
  device.select_acting(ctx, model, state.time, dt, x.data());
  StepInputs inputs;
  inputs.dt = static_cast<Real>(dt);
  inputs.x_t = inputs.target = x.data();
  inputs.y = free.data();
  const auto d_hat = static_cast<Real>(params.d_hat);
  potential.begin_step(ctx, inputs, {d_hat, static_cast<Real>(params.eps_v * dt), false, {}});
  BroadPhase broad_phase;
  broad_phase.set_topology(contact_surface(device));
  broad_phase.find(ctx, x.data(), nullptr, d_hat, pair_filter(device));
  potential.contacts().update(ctx, make_proximity(device, broad_phase.view()), x.data());
  const double node = device.mean_mass / (dt * dt) + 0.1 * static_cast<double>(device.mean_stiffness);
  const double balance = potential.starting_barrier(ctx, x.data()).balancing_stiffness;
  potential.contacts().set_stiffness(static_cast<Real>(std::max(balance, node)));
  potential.contacts().update_friction(ctx, x.data());
  potential.linearise(ctx, x.data());

  out.contacts = potential.contacts().set().active_count();
  out.matrix = potential.hessian().download(ctx);
  const std::size_t n = model.node_count();
  out.rhs.resize(n);
  out.fixed.resize(n);
  out.stiffness.resize(n);
  copy_to_host(ctx, out.rhs.data(), potential.gradient(), n);
  copy_to_host(ctx, out.fixed.data(), potential.fixed(), n);
  copy_to_host(ctx, out.stiffness.data(), potential.hessian().stiffness(), n);
  for (std::size_t i = 0; i < n; ++i) out.rhs[i] = out.fixed[i] ? Vec3::zero() : -out.rhs[i];
  return out;
}

}  // namespace stickslip::STICKSLIP_BACKEND
