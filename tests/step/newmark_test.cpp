// Newmark steps of elastic scenes: order, energy, contact, friction, and accelerations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpu/core/real.h"
#include "gpu/model/rigid_body.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::mean;
using fixtures::Vec3d;

constexpr bool kSingle = sizeof(Real) == sizeof(float);

class Newmark : public fixtures::EngineTest {
 protected:
  Newmark() { params.time_integrator = TimeIntegrator::newmark; }

  /// A box in free space, stretched by `strain` along y, that vibrates.
  void load_vibration(double strain, double damping) {
    params.gravity = 0;
    params.newton_tolerance = kSingle ? 1e-5 : 1e-7;
    params.linear_solver = LinearSolverKind::cholesky;
    Model model;
    add_box(model, "box", {0.1, 0.2, 0.1}, {0, 1, 0}, 2);
    model.materials[0].young = 1e4;
    model.materials[0].damping = damping;
    for (Vec3d& p : model.positions) p[1] = 1 + (1 + strain) * (p[1] - 1);
    load(model);
  }

  State after(double seconds) {
    const int steps = static_cast<int>(std::lround(seconds / params.dt));
    for (int i = 0; i < steps; ++i) step();
    return engine->state();
  }

  /// Largest distance of a node from its position in `truth`.
  static double error(const State& state, const State& truth) {
    double most = 0;
    for (std::size_t i = 0; i < truth.positions.size(); ++i)
      most = std::max(most, norm(state.positions[i] - truth.positions[i]));
    return most;
  }

  /// Ratio of the errors of a vibration when the step is halved.
  double error_ratio(double damping) {
    const double seconds = 0.016;
    const auto run = [&](double dt) {
      params.dt = dt;
      load_vibration(1e-3, damping);
      return after(seconds);
    };
    const State truth = [&] {
      const Params chosen = params;
      params.time_integrator = TimeIntegrator::newmark;
      State state = run(seconds / 256);
      params = chosen;
      return state;
    }();
    return error(run(seconds / 16), truth) / error(run(seconds / 32), truth);
  }
};

TEST_P(Newmark, FliesAlongTheParabola) {
  params.newton_tolerance = kSingle ? 1e-5 : 1e-7;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 1, 0}, 2, 20, {0.3, 1.0, -0.2});
  load(model);
  const Vec3d start = mean(model.positions, 0, model.node_count());
  for (int i = 0; i < 10; ++i) step();
  const State state = engine->state();
  const double t = 10 * params.dt;
  const Vec3d moved = mean(state.positions, 0, model.node_count()) - start;
  const Vec3d velocity = mean(state.velocities, 0, model.node_count());
  const double bound = kSingle ? 1e-4 : 1e-8;
  EXPECT_NEAR(moved[0], 0.3 * t, bound);
  EXPECT_NEAR(moved[1], 1.0 * t + params.gravity * t * t / 2, bound);
  EXPECT_NEAR(velocity[1], 1.0 + params.gravity * t, 10 * bound);
  EXPECT_NEAR(moved[2], -0.2 * t, bound);
}

TEST_P(Newmark, ConvergesWithOrderTwoWhereBackwardEulerHasOrderOne) {
  if (kSingle) GTEST_SKIP() << "rounding in single precision is larger than these errors";
  for (const double damping : {0.0, 1e-3}) {
    params.time_integrator = TimeIntegrator::newmark;
    EXPECT_NEAR(error_ratio(damping), 4, 0.5) << "damping " << damping;
    params.time_integrator = TimeIntegrator::backward_euler;
    EXPECT_NEAR(error_ratio(damping), 2, 0.5) << "damping " << damping;
  }
}

TEST_P(Newmark, KeepsTheEnergyThatBackwardEulerLoses) {
  const auto kept = [&](TimeIntegrator integrator) {
    params.time_integrator = integrator;
    params.dt = 2e-3;
    load_vibration(0.02, 0);
    double first = 0, last = 0;
    for (int i = 0; i < 100; ++i) {
      const StepReport report = step();
      last = report.kinetic_energy + report.elastic_energy;
      if (i == 0) first = last;
    }
    return last / first;
  };
  EXPECT_NEAR(kept(TimeIntegrator::newmark), 1, 0.02);
  EXPECT_LT(kept(TimeIntegrator::backward_euler), 0.3);
}

TEST_P(Newmark, ALargerGammaDamps) {
  params.dt = 2e-3;
  params.newmark_beta = 0.4;
  params.newmark_gamma = 0.7;
  load_vibration(0.02, 0);
  const StepReport first = step();
  StepReport last;
  for (int i = 0; i < 100; ++i) last = step();
  EXPECT_LT(last.kinetic_energy + last.elastic_energy, 0.5 * (first.kinetic_energy + first.elastic_energy));
}

TEST_P(Newmark, ADampedBoxComesToRestOnTheGround) {
  for (const auto body : {fixtures::BoxBody::deformable, fixtures::BoxBody::affine}) {
    params.newmark_beta = 0.36;
    params.newmark_gamma = 0.7;
    Model model;
    add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.06, 0}, 2, 0, {0, 0, 0}, body);
    model.materials[0].damping = 0.01;
    model.half_spaces.push_back({});
    load(model);
    StepReport report;
    for (int i = 0; i < 120; ++i) {
      report = step();
      EXPECT_NE(report.gap_min, 0);
    }
    EXPECT_LT(report.gap_min, params.d_hat);
    EXPECT_LT(report.kinetic_energy, 1e-4);
  }
}

TEST_P(Newmark, ABlockSlidesDownASlopeAsCoulombSays) {
  const double angle = 20 * M_PI / 180, mu = 0.2, seconds = 0.2;
  const Vec3d normal{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
  params.dt = 0.01;
  params.newmark_beta = 0.3025;
  params.newmark_gamma = 0.6;
  Model model;
  add_box(model, "block", {0.2, 0.1, 0.2}, 0.0512 * normal, 2, -20);
  model.materials[0].young = 1e6;
  model.materials[0].mu = mu;
  model.materials[0].damping = 0.01;
  model.half_spaces.push_back({normal, 0, mu});
  load(model);
  // It starts inside the barrier, which accelerates it upwards a little: measured after it has settled.
  const Vec3d before = mean(after(seconds).velocities, 0, model.node_count());
  const Vec3d gained = mean(after(seconds).velocities, 0, model.node_count()) - before;
  const double expected = 9.81 * (std::sin(angle) - mu * std::cos(angle)) * seconds;
  EXPECT_NEAR(dot(gained, down), expected, 0.02 * expected);
}

TEST_P(Newmark, ABlockSticksOnASlopeBelowTheFrictionAngle) {
  const double angle = 20 * M_PI / 180, mu = 1.1 * std::tan(angle);
  const Vec3d normal{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
  params.dt = 0.01;
  params.newmark_beta = 0.3025;
  params.newmark_gamma = 0.6;
  Model model;
  add_box(model, "block", {0.2, 0.1, 0.2}, 0.0512 * normal, 2, -20);
  model.materials[0].young = 1e6;
  model.materials[0].mu = mu;
  model.materials[0].damping = 0.01;
  model.half_spaces.push_back({normal, 0, mu});
  load(model);
  const Vec3d start = mean(model.positions, 0, model.node_count());
  // It starts inside the barrier, which accelerates it upwards a little: it slides until it has settled.
  const Vec3d settled = mean(after(0.2).positions, 0, model.node_count());
  const Vec3d rested = mean(after(0.2).positions, 0, model.node_count());
  EXPECT_LT(dot(settled - start, down), 4e-3);
  EXPECT_LT(std::abs(dot(rested - settled, down)), params.eps_v * 0.2);
}

TEST_P(Newmark, ACollisionConservesMomentumAndIntersectsNothing) {
  params.gravity = 0;
  Model model;
  add_box(model, "left", {0.1, 0.1, 0.1}, {-0.08, 0.013, 0.007}, 2, 10, {1.0, 0, 0});
  add_box(model, "right", {0.1, 0.1, 0.1}, {0.08, 0, 0}, 2, -7, {-0.5, 0, 0});
  load(model);
  bool touched = false;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    touched = touched || report.contacts > 0;
    EXPECT_NEAR(report.momentum[0], 0.5, 2e-3);
  }
  EXPECT_TRUE(touched);
}

TEST_P(Newmark, AccelerationsOfAStateFromOutsideComeFromItsForces) {
  params.dt = 2e-3;
  load_vibration(0.02, 0);
  for (int i = 0; i < 5; ++i) step();
  const State middle = engine->state();
  for (int i = 0; i < 5; ++i) step();
  const State end = engine->state();
  engine->set_state(middle);
  for (int i = 0; i < 5; ++i) step();
  EXPECT_LT(error(engine->state(), end), kSingle ? 1e-5 : 1e-8);
  engine->reset();
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(error(engine->state(), end), 0);
}

TEST_P(Newmark, ScriptedNodesKeepTheirSpeedAndCarryOthers) {
  params.gravity = 0;
  Model model;
  Object& bar = add_box(model, "bar", {0.4, 0.1, 0.1}, {0, 0, 0}, 2);
  ScriptedNodes moved;
  moved.motion.velocity = {0.1, 0, 0};
  for (int i = bar.node_begin; i < bar.node_end; ++i)
    if (model.positions[i][0] > 0.19) moved.nodes.push_back(i);
  const std::vector<std::int32_t> nodes = moved.nodes;
  model.scripted.push_back(moved);
  load(model);
  for (int i = 0; i < 30; ++i) step();
  const State state = engine->state();
  for (const std::int32_t i : nodes) {
    EXPECT_NEAR(state.velocities[i][0], 0.1, 1e-4);
    EXPECT_NEAR(state.positions[i][0] - model.positions[i][0], 0.1 * 30 * params.dt, 1e-5);
  }
}

TEST_P(Newmark, ScenesWithJointsAreSteppedByBackwardEuler) {
  Vec3d ends[2];
  for (const TimeIntegrator rule : {TimeIntegrator::newmark, TimeIntegrator::backward_euler}) {
    params.time_integrator = rule;
    Model model;
    fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({0.5, 0, 0}));
    Joint joint;
    joint.kind = JointKind::ball;
    joint.a = 0;
    const Pose frame = fixtures::pose_at({0, 0, 0});
    add_joint(model, joint, frame, frame);
    load(model);
    for (int i = 0; i < 10; ++i) step();
    ends[rule == TimeIntegrator::newmark] = engine->state().bodies[0].pose.x;
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_LT(ends[0][1], -0.01);
}

INSTANTIATE_ON_BACKENDS(Newmark);

}  // namespace
}  // namespace stickslip
