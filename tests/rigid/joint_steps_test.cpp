// Whole steps of bodies connected by joints.
#include <algorithm>
#include <cmath>

#include "gpu/model/rigid_body.h"
#include "gpu/rigid/joint_rows.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::pose_at;

class JointSteps : public fixtures::VelocityStepTest {
 protected:
  JointSteps() : VelocityStepTest(1) {
    params.dt = 0.005;
    contact.tolerance = 1e-8;
    contact.max_iterations = 10000;
    params.contact_solver = ContactSolverKind::automatic;
  }
  void load() { VelocityStepTest::load(model); }
  Joint& join(JointKind kind, std::int32_t a, std::int32_t b, const Vec<double, 3>& at,
              const Vec<double, 3>& axis) {
    Joint joint;
    joint.kind = kind;
    joint.a = a;
    joint.b = b;
    return add_joint(model, joint, Pose{at, turn_of_x(axis)});
  }
  BodyAtStep at(const std::vector<BodyState>& bodies, std::int32_t b) const {
    BodyAtStep s = BodyAtStep::world();
    if (b < 0) return s;
    const BodyState& body = bodies[static_cast<std::size_t>(b)];
    s.pose = body.pose;
    s.velocity = body.velocity;
    s.spin = body.spin;
    return s;
  }
  /// Largest distance or angle error of any joint [m, rad].
  double worst_error() const {
    const std::vector<BodyState> bodies = engine->state().bodies;
    double most = 0;
    for (const Joint& joint : model.joints) {
      const DeviceJoint j = device_joint(joint);
      for (int i = 0; i < joint_block_count(j); ++i) {
        ConstraintBlock<3> block;
        fill_joint_block(j, i, at(bodies, j.a), at(bodies, j.b), whole_error(), block);
        if (block.law.set == FrictionSet::bilateral) most = std::max(most, norm(block.w));
      }
    }
    return most;
  }
  JointCoordinate coordinate(std::size_t joint) const {
    const std::vector<BodyState> bodies = engine->state().bodies;
    const DeviceJoint j = device_joint(model.joints[joint]);
    return joint_coordinate(j, at(bodies, j.a), at(bodies, j.b));
  }

  Model model;
};

/// Twelve links that fall from the horizontal and whip.
TEST_P(JointSteps, ChainsHoldTogetherUnderEveryStabilisation) {
  constexpr int kLinks = 12;
  for (int i = 0; i < kLinks; ++i) {
    add_rigid_box(model, {0.09, 0.02, 0.02}, pose_at({0.2 * i + 0.1, 0, 0}));
    join(JointKind::ball, i, i - 1, {0.2 * i, 0, 0}, {1, 0, 0});
  }
  for (const Stabilisation rule :
       {Stabilisation::baumgarte, Stabilisation::spring_damper, Stabilisation::projection}) {
    params.stabilisation = rule;
    load();
    StepReport report = engine->step();
    const double start = report.kinetic_energy + report.gravity_energy;
    const double scale = kLinks * 8 * 0.09 * 0.02 * 0.02 * 1000 * 9.81 * 1.2;
    double most = 0;
    for (int step = 0; step < 300; ++step) {
      report = engine->step();
      most = std::max(most, worst_error());
      ASSERT_LT(report.kinetic_energy + report.gravity_energy, start + 0.02 * scale)
          << static_cast<int>(rule) << " step " << step;
    }
    // The tip moves through a quarter turn in ten steps; a spring yields.
    const double allowed = rule == Stabilisation::projection      ? 5e-3
                           : rule == Stabilisation::spring_damper ? 6e-2
                                                                  : 2e-2;
    EXPECT_LT(most, allowed) << static_cast<int>(rule);
    EXPECT_GT(report.kinetic_energy + report.gravity_energy, start - 0.3 * scale);
  }
}

/// T = 2 pi sqrt((I + m l^2) / (m g l)) (1 + theta^2 / 16).
TEST_P(JointSteps, APendulumKeepsItsPeriod) {
  params.dt = 0.002;
  const double l = 0.5, theta = 0.2, g = 9.81;
  add_rigid_box(model, {0.05, 0.2, 0.05},
                pose_at({l * std::sin(theta), -l * std::cos(theta), 0}, {0, 0, theta}));
  join(JointKind::hinge, 0, -1, {0, 0, 0}, {0, 0, 1});
  load();
  const double inertia = (0.05 * 0.05 + 0.2 * 0.2) / 3;
  const double period =
      2 * std::acos(-1.0) * std::sqrt((inertia + l * l) / (g * l)) * (1 + theta * theta / 16);
  double last = theta, first = 0;
  int crossings = 0;
  for (int step = 1; step < 2000 && crossings < 3; ++step) {
    engine->step();
    const double angle = theta + coordinate(0).value;  // counted from the start
    if (last > 0 && angle <= 0) {
      const double now = params.dt * (step - angle / (angle - last));
      if (++crossings == 1) first = now;
      if (crossings == 3) {
        EXPECT_NEAR((now - first) / 2, period, 3e-3 * period);
      }
    }
    last = angle;
  }
  EXPECT_EQ(crossings, 3);
  EXPECT_LT(worst_error(), 1e-4);
}

/// A motor accelerates a wheel with all of its torque up to its speed; gears transmit it.
TEST_P(JointSteps, AMotorDrivesGears) {
  params.gravity = 0;
  add_rigid_box(model, {0.2, 0.2, 0.05}, pose_at({0, 0, 0}));
  add_rigid_box(model, {0.1, 0.1, 0.05}, pose_at({1, 0, 0}));
  Joint& motor = join(JointKind::hinge, 0, -1, {0, 0, 0}, {0, 0, 1});
  motor.motor_speed = 4;
  motor.motor_limit = 3;
  join(JointKind::hinge, 1, -1, {1, 0, 0}, {0, 0, 1});
  join(JointKind::gear, 1, 0, {0, 0, 0}, {0, 0, 1}).ratio = -2;
  load();
  const double wheel = 16.0 * (0.2 * 0.2 + 0.2 * 0.2) / 3, small = 4.0 * (0.1 * 0.1 + 0.1 * 0.1) / 3;
  const double rate = 3 / (wheel + 4 * small);  // [rad/s^2], with both inertias referred to the motor
  for (int step = 1; step <= 400; ++step) {
    engine->step();
    EXPECT_NEAR(coordinate(0).rate, std::min(4.0, rate * params.dt * step), 2e-4) << step;
    EXPECT_NEAR(coordinate(1).rate, -2 * coordinate(0).rate, 2e-4);
  }
  EXPECT_LT(worst_error(), 1e-5);
}

/// Sweeps that end too early leave an error between the teeth; sufficient sweeps remove it.
TEST_P(JointSteps, GearsTakeTheirErrorsBack) {
  params.gravity = 0;
  for (int i = 0; i < 3; ++i) {
    add_rigid_box(model, {0.1, 0.1, 0.05}, pose_at({0.3 * i, 0, 0}));
    join(JointKind::hinge, i, -1, {0.3 * i, 0, 0}, {0, 0, 1});
  }
  join(JointKind::gear, 1, 0, {0, 0, 0}, {0, 0, 1}).ratio = -1.5;
  join(JointKind::gear, 2, 1, {0, 0, 0}, {0, 0, 1}).ratio = -2;
  model.joints[0].motor_speed = 5;
  model.joints[0].motor_limit = 20;
  params.contact_solver = ContactSolverKind::pgs_jacobi;
  contact.max_iterations = 2;
  load();
  double most = 0;
  for (int step = 0; step < 60; ++step) {
    engine->step();
    most = std::max(most, worst_error());
  }
  EXPECT_GT(most, 1e-4);
  params.contact_solver = ContactSolverKind::automatic;
  contact.max_iterations = 10000;
  apply_params();
  run_unconverged(200);
  EXPECT_LT(worst_error(), 1e-6);
}

/// A body on a slider falls to its limit and stays; a rope catches; a rod keeps its length.
TEST_P(JointSteps, LimitsStopAFall) {
  for (int i = 0; i < 3; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({1.0 * i, 0, 0}));
  Joint& slider = join(JointKind::slider, 0, -1, {0, 0, 0}, {0, 1, 0});
  slider.low = -0.6;
  slider.high = 0.1;
  Joint rope;
  rope.kind = JointKind::distance;
  rope.a = 1;
  rope.low = 0;
  rope.high = 0.8;
  add_joint(model, rope, pose_at({1, 0, 0}), pose_at({1, 0.2, 0}));
  Joint rod = rope;
  rod.a = 2;
  rod.low = rod.high = 0.5;
  add_joint(model, rod, pose_at({2, 0, 0}), pose_at({1.6, 0.3, 0}));
  load();
  for (int step = 0; step < 160; ++step) {
    engine->step();
    EXPECT_GT(coordinate(0).value, -0.6 - 1e-5);
    EXPECT_LT(coordinate(1).value, 0.8 + 1e-5);
    EXPECT_NEAR(coordinate(2).value, 0.5, 2e-3);
  }
  EXPECT_NEAR(coordinate(0).value, -0.6, 1e-5);
  EXPECT_NEAR(coordinate(1).value, 0.8, 1e-5);
  EXPECT_NEAR(engine->state().bodies[1].pose.x[1], -0.6, 1e-5);
}

INSTANTIATE_ON_BACKENDS(JointSteps);

}  // namespace
}  // namespace stickslip
