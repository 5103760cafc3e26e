// The whole potential against finite differences: every term at once, contacts of every kind included.
#include <random>

#include "gpu/broadphase/broadphase.cuh"
#include "gpu/solver/incremental_potential.cuh"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

/// Two boxes of which one nearly rests on the other, above a half-space, slightly deformed.
struct Setup {
  Setup(Context& ctx, bool lagged) {
    fixtures::add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0505, 0}, 1);
    fixtures::add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1516, 0.017}, 1, 0.3);
    model.half_spaces.push_back({});
    model.materials[0].damping = 0.01;
    finalize(model);
    device.upload(ctx, model);
    potential.load(ctx, model, device);

    std::mt19937 random(7);
    std::uniform_real_distribution<double> noise(-1e-4, 1e-4);
    for (const auto& p : model.positions) {
      x.push_back((p + fixtures::Vec3d{noise(random), noise(random), noise(random)}).cast<Real>());
      x_t.push_back((p + fixtures::Vec3d{noise(random), noise(random), noise(random)}).cast<Real>());
      y.push_back((p + fixtures::Vec3d{noise(random), -2e-3, noise(random)}).cast<Real>());
    }
    device_x_t.upload(ctx, x_t);
    device_y.upload(ctx, y);
    StepInputs inputs;
    inputs.dt = Real(0.01);
    inputs.x_t = device_x_t.data();
    inputs.y = inputs.target = device_y.data();
    inputs.drag.nodes = model.triangles[0];
    inputs.drag.weights = {Real(0.2), Real(0.3), Real(0.5)};
    inputs.drag.stiffness = 300;
    potential.begin_step(ctx, inputs, {Real(2e-3), Real(1e-5), lagged});
    potential.contacts().set_stiffness(500);
    broad_phase.set_topology(surface_view(device));
    device_x.upload(ctx, x);
    broad_phase.find(ctx, device_x.data(), nullptr, Real(4e-3), device.scripted.data());
    near = make_proximity(device, broad_phase.view());
    potential.contacts().update(ctx, near, device_x.data());
    if (lagged) potential.contacts().update_friction(ctx, device_x.data());
  }

  double value(Context& ctx, const std::vector<Vec3>& at) {
    device_trial.upload(ctx, at);
    double sum = 0;
    for (const double term : potential.values(ctx, near, device_trial.data())) sum += term;
    return sum;
  }

  Model model;
  DeviceModel device;
  IncrementalPotential potential;
  BroadPhase broad_phase;
  Proximity near{};
  std::vector<Vec3> x, x_t, y;
  Buffer<Vec3> device_x, device_x_t, device_y, device_trial;
};

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(IncrementalPotential, gradient_is_the_derivative_of_the_value) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  for (const bool lagged : {false, true}) {
    Setup s(ctx, lagged);
    ASSERT_GT(s.potential.contacts().set().size(), 8u);
    const auto values = s.potential.values(ctx, s.near, s.device_x.data());
    for (const double term : values) EXPECT_GT(term, 0) << "every term takes part";
    s.potential.linearise(ctx, s.device_x.data());
    std::vector<Vec3> gradient(s.x.size());
    copy_to_host(ctx, gradient.data(), s.potential.gradient(), gradient.size());
    const double h = 1e-8;
    for (std::size_t i = 0; i < s.x.size(); ++i)
      for (int c = 0; c < 3; ++c) {
        std::vector<Vec3> plus = s.x, minus = s.x;
        plus[i][c] += h;
        minus[i][c] -= h;
        const double numeric = (s.value(ctx, plus) - s.value(ctx, minus)) / (2 * h);
        EXPECT_NEAR(gradient[i][c], numeric, 1e-4 * (1 + std::abs(numeric)))
            << "node " << i << ", axis " << c;
      }
  }
}

BACKEND_TEST(IncrementalPotential, hessian_is_symmetric_and_positive_and_bounds_the_curvature) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "differences need double";
  Setup s(ctx, false);
  s.potential.linearise(ctx, s.device_x.data());
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  const std::size_t n = s.x.size();
  const double h = 1e-6;
  const double middle = s.value(ctx, s.x);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<Vec3> p(n), plus = s.x, minus = s.x;
    for (std::size_t i = 0; i < n; ++i) {
      p[i] = {normal(random), normal(random), normal(random)};
      plus[i] += h * p[i];
      minus[i] -= h * p[i];
    }
    Buffer<Vec3> device_p(ctx, std::span<const Vec3>(p)), product(ctx, n);
    s.potential.hessian().multiply(ctx, device_p.data(), product.data());
    const std::vector<Vec3> hp = product.download(ctx);
    double php = 0;
    for (std::size_t i = 0; i < n; ++i) php += dot(p[i], hp[i]);
    EXPECT_GT(php, 0);
    // Projection only removes negative curvature.
    const double numeric = (s.value(ctx, plus) - 2 * middle + s.value(ctx, minus)) / (h * h);
    EXPECT_GT(php, numeric * (1 - 1e-2));
  }
}

BACKEND_TEST(IncrementalPotential, balancing_stiffness_makes_the_barrier_answer_the_other_forces) {
  Setup s(ctx, false);
  const double sigma = s.potential.balancing_stiffness(ctx, s.device_x.data());
  EXPECT_GT(sigma, 0);
  EXPECT_TRUE(std::isfinite(sigma));
}
