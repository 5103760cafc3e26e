#include "gpu/step/newmark.cuh"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip {
namespace {

/// Nodes that take steps of backward Euler among those of Newmark's rule.
struct EulerNodes {
  const std::uint8_t* flags;  // nullptr: none
  SS_HD bool operator[](std::size_t i) const { return flags != nullptr && flags[i] != 0; }
};

}  // namespace
}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void Newmark::load(Context& ctx, const Model& model) {
  const auto is_quasistatic = [](const Object& object) {
    return object.is_rods() && object.quasistatic_twist;
  };
  has_euler_ = std::ranges::any_of(model.objects, is_quasistatic);
  if (!has_euler_) return;
  std::vector<std::uint8_t> ghosts(model.node_count(), 0);
  for (const Object& object : model.objects)
    if (is_quasistatic(object))
      std::fill(ghosts.begin() + object.node_begin, ghosts.begin() + object.collides_from, std::uint8_t{1});
  euler_.upload(ctx, ghosts);
}

void Newmark::begin_forces(Context& ctx, const DeviceModel& device, const Params& params,
                           const DeviceState& state, Vec3* x, Vec3* y, Vec3* target) {
  const std::size_t n = device.node_count;
  for (Buffer<Vec3>* b : {&acceleration_, &next_acceleration_, &still_}) b->resize(ctx, n);
  const Vec3* x_t = state.x.data();
  const Vec3* v_t = state.v.data();
  const Vec3* acceleration = device.acceleration.data();
  const Real* mass = device.mass.data();
  Vec3* still = still_.data();
  Vec3* load = acceleration_.data();
  Vec3* masses = next_acceleration_.data();
  const Real time = static_cast<Real>(velocity_dt(params)), g = static_cast<Real>(params.gravity);
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    x[i] = y[i] = target[i] = x_t[i];
    still[i] = x_t[i] - time * v_t[i];
    load[i] = mass[i] * (Vec3{0, g, 0} + acceleration[i]);
    masses[i] = Vec3::filled(mass[i]);
  });
}

void Newmark::finish_forces(Context& ctx, const DeviceModel& device, IncrementalPotential& potential) {
  const std::uint8_t* scripted = device.scripted.data();
  Vec3* load = acceleration_.data();
  Vec3* masses = next_acceleration_.data();
  potential.reduce(ctx, load);
  potential.reduce(ctx, masses);
  const Vec3* gradient = potential.gradient();
  const EulerNodes euler{has_euler_ ? euler_.data() : nullptr};
  launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
    const Real m = masses[i][0];
    load[i] = scripted[i] || euler[i] || !(m > Real(0)) ? Vec3::zero() : (load[i] - gradient[i]) / m;
  });
  potential.embedding().expand(ctx, load);
  has_accelerations_ = true;
}

void Newmark::predict(Context& ctx, const DeviceModel& device, const Params& params,
                      const Embedding& embedding, const DeviceState& state, const Vec3* target, Vec3* y) {
  const Vec3* force = device.acceleration.data();
  const std::uint8_t* scripted = device.scripted.data();
  const Vec3* x_t = state.x.data();
  const Vec3* v_t = state.v.data();
  const Vec3* a_t = acceleration_.data();
  Vec3* still = still_.data();
  const Real dt = static_cast<Real>(params.dt), g = static_cast<Real>(params.gravity);
  const Real beta = static_cast<Real>(params.newmark_beta), gamma = static_cast<Real>(params.newmark_gamma);
  const Real time = static_cast<Real>(velocity_dt(params));
  launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
    const Vec3 coasted = x_t[i] + dt * v_t[i] + dt * dt * (Real(0.5) - beta) * a_t[i];
    y[i] = coasted + beta * dt * dt * (Vec3{0, g, 0} + force[i]);
    still[i] = scripted[i] ? target[i] - time / dt * (target[i] - x_t[i])
                           : coasted - time * (v_t[i] + dt * (Real(1) - gamma) * a_t[i]);
  });
  embedding.expand(ctx, still);
}

void Newmark::rest_scripts(Context& ctx, const DeviceModel& device, const Embedding& embedding,
                           const DeviceState& state) {
  const std::uint8_t* scripted = device.scripted.data();
  const Vec3* x_t = state.x.data();
  Vec3* still = still_.data();
  launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
    if (scripted[i]) still[i] = x_t[i];
  });
  embedding.expand(ctx, still);
}

void Newmark::update_velocities(Context& ctx, const DeviceModel& device, const Params& params,
                                const Embedding& embedding, const DeviceState& state, const Vec3* x,
                                Vec3* v) {
  const std::uint8_t* scripted = device.scripted.data();
  const Vec3* x_t = state.x.data();
  const Vec3* v_t = state.v.data();
  const Vec3* a_t = acceleration_.data();
  const Vec3* still = still_.data();
  Vec3* a = next_acceleration_.data();
  const Real dt = static_cast<Real>(params.dt);
  const Real gamma = static_cast<Real>(params.newmark_gamma), time = static_cast<Real>(velocity_dt(params));
  const EulerNodes euler{has_euler_ ? euler_.data() : nullptr};
  launch(ctx, device.node_count, [=] SS_LAMBDA(std::size_t i) {
    const bool has_no_acceleration = scripted[i] || euler[i];
    v[i] = has_no_acceleration ? (x[i] - x_t[i]) / dt : (x[i] - still[i]) / time;
    a[i] = has_no_acceleration ? Vec3::zero() : ((v[i] - v_t[i]) / dt - (Real(1) - gamma) * a_t[i]) / gamma;
  });
  embedding.expand(ctx, v);
  embedding.expand(ctx, a);
}

}  // namespace stickslip::STICKSLIP_BACKEND
