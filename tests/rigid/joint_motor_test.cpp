// Motors and limits of joints (unilateral blocks), through the solvers of the lab.
#include "tests/rigid/rigid_problem.h"

namespace stickslip {
namespace {

using namespace fixtures;

DeviceJoint wheel_joint(double speed, double limit) {
  DeviceJoint j{};
  j.kind = JointKind::hinge;
  j.a = 0;
  j.b = -1;
  j.frame_a = j.frame_b = Pose::identity();
  j.low = 1;
  j.high = -1;
  j.motor_speed = speed;
  j.motor_limit = limit;
  return j;
}

std::vector<RigidOne> wheel() {
  std::vector<RigidOne> bodies(1);
  bodies[0].mass = 3;
  bodies[0].inertia = {0.02, 0.01, 0.01};
  return bodies;
}

ErrorFeedback of_step(double dt) { return {dt, 0.2, 2.0}; }

/// While its torque is too small, the motor applies all of it; then only the torque that the speed needs.
/// This holds for every solver, because the motor's block follows Coulomb's law.
TEST(JointMotor, IsBoundedCoulombFriction) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double dt = 0.01, limit = 4, target = 5;
  for (const ContactSolverInfo& solver : list_contact_solvers()) {
    SCOPED_TRACE(solver.name);
    std::vector<RigidOne> bodies = wheel();
    double spin = 0;
    for (int step = 0; step < 4; ++step) {
      solve_by_lab<3>(*lab, solver.name, bodies,
                      joint_blocks<3>(bodies, {wheel_joint(target, limit)}, of_step(dt)), 1e-8);
      advance(bodies, dt);
      spin = std::min(spin + limit * dt / 0.02, target);
      EXPECT_NEAR(bodies[0].spin[0], spin, 1e-5 * target);
    }
  }
}

/// Against an external torque beyond its limit the motor slips and is turned backwards.
TEST(JointMotor, SlipsUnderTooMuchLoad) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double dt = 0.01;
  for (const double load : {-3.0, -7.0}) {
    std::vector<RigidOne> bodies = wheel();
    for (int step = 0; step < 5; ++step) {
      bodies[0].spin[0] += dt * load / 0.02;
      solve_by_lab<4>(*lab, "nsgs", bodies, joint_blocks<4>(bodies, {wheel_joint(0, 4)}, of_step(dt)), 1e-12);
      EXPECT_NEAR(bodies[0].spin[0], load < -4 ? (step + 1) * dt * (load + 4) / 0.02 : 0.0, 1e-9);
    }
  }
}

/// A motor moves a body on a slider at its speed, and lifts it only if it is strong enough.
TEST(JointMotor, SliderLiftsWhatItCan) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double dt = 0.01, g = 9.81;
  for (const double limit : {20.0, 40.0}) {  // of 29.43 N
    std::vector<RigidOne> bodies = wheel();
    DeviceJoint j = wheel_joint(0.5, limit);
    j.kind = JointKind::slider;
    j.frame_a.q = j.frame_b.q = rotation_by(V3d{0, 0, std::acos(-1.0) / 2});  // x is up
    for (int step = 0; step < 100; ++step) {
      push_freely(bodies, -g, dt);
      solve_by_lab<3>(*lab, "nsgs", bodies, joint_blocks<3>(bodies, {j}, of_step(dt)), 1e-12);
      advance(bodies, dt);
    }
    const double wanted = limit > 3 * g ? 0.5 : (limit / 3 - g) * 1.0;
    EXPECT_NEAR(bodies[0].velocity[1], wanted, 1e-6);
    EXPECT_NEAR(std::hypot(bodies[0].pose.x[0], bodies[0].pose.x[2]), 0, 1e-6);
  }
}

/// A hinge that reaches its limits stops there within the step, at high and low speed.
TEST(JointLimits, StopAHinge) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double dt = 0.01;
  for (const double speed : {0.3, -0.3, 40.0, -40.0}) {
    std::vector<RigidOne> bodies = wheel();
    DeviceJoint j = wheel_joint(0, 0);
    j.low = -0.7;
    j.high = 1.2;
    bodies[0].spin[0] = speed;
    const int steps = std::fabs(speed) > 1 ? 20 : 600;
    for (int step = 0; step < steps; ++step) {
      const auto blocks = joint_blocks<3>(bodies, {j}, of_step(dt));
      solve_by_lab<3>(*lab, "nsgs", bodies, blocks, 1e-12);
      advance(bodies, dt);
      const double angle = joint_coordinate(j, bodies[0].at_step(), BodyAtStep::world()).value;
      ASSERT_GT(angle, -0.7 - 1e-7);
      ASSERT_LT(angle, 1.2 + 1e-7);
    }
    EXPECT_NEAR(joint_coordinate(j, bodies[0].at_step(), BodyAtStep::world()).value, speed > 0 ? 1.2 : -0.7,
                1e-6);
    EXPECT_NEAR(bodies[0].spin[0], 0, 1e-6);
  }
}

/// A rope acts only from its full length on.
TEST(JointLimits, RopeCatchesAFall) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double dt = 0.01, g = 9.81, length = 0.5;
  std::vector<RigidOne> bodies = wheel();
  DeviceJoint j = wheel_joint(0, 0);
  j.kind = JointKind::distance;
  j.low = 0;
  j.high = length;
  EXPECT_EQ(joint_block_count(j), 1);
  bodies[0].pose.x = {0, -0.1, 0};
  for (int step = 1; step <= 60; ++step) {
    push_freely(bodies, -g, dt);
    solve_by_lab<3>(*lab, "nsgs", bodies, joint_blocks<3>(bodies, {j}, of_step(dt)), 1e-12);
    advance(bodies, dt);
    const double fallen = 0.5 * g * dt * dt * step * (step + 1) + 0.1;
    EXPECT_NEAR(-bodies[0].pose.x[1], std::min(fallen, length), 1e-9) << "step " << step;
  }
}

/// Two wheels on hinges: the rotation of a is `ratio` times that of b, and impulses are in the same ratio.
TEST(JointGear, TurnsAreInRatio) {
  const double dt = 0.01, ratio = -2.5;
  std::vector<RigidOne> bodies(2);
  bodies[0].inertia = {0.02, 0.01, 0.01};
  bodies[1].inertia = {0.3, 0.2, 0.2};
  bodies[1].pose.x = {0, 0, 1};
  std::vector<DeviceJoint> joints(3, wheel_joint(0, 0));
  joints[1].a = 1;
  joints[1].frame_b.x = {0, 0, 1};
  joints[2].kind = JointKind::gear;
  joints[2].b = 1;
  joints[2].ratio = ratio;
  for (int step = 0; step < 50; ++step) {
    bodies[0].spin[0] += dt * 6.0 / 0.02;  // 6 N m on a
    solve_equalities(bodies, joint_blocks<3>(bodies, joints, of_step(dt)));
    advance(bodies, dt);
    EXPECT_NEAR(bodies[0].spin[0], ratio * bodies[1].spin[0], 1e-9);
  }
  // Inertia as seen at a: that of b is divided by the squared ratio.
  EXPECT_NEAR(bodies[0].spin[0], 50 * dt * 6.0 / (0.02 + 0.3 / (ratio * ratio)), 1e-7);
}

}  // namespace
}  // namespace stickslip
