// Gears between bodies of every kind, in both families of steppers.
#include <cmath>
#include <numbers>

#include "tests/fixtures/solid_joint_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_rigid_box;
using fixtures::BoxBody;
using fixtures::frame_of;
using fixtures::join;
using fixtures::joint_of;
using fixtures::kFamilies;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class Gears : public fixtures::SolidJointTest {
 protected:
  Gears() {
    params.gravity = 0;
    params.newton_tolerance = 1e-5;
    params.joint_tolerance = 1e-7;
  }
};

enum class Wheels { rigid, affine, deformable };

/// Joints: a motor with a limit that is never reached turns wheel 0 about z; wheel 1, beside it, turns about
/// `axis`; a gear makes wheel 1 turn `ratio` times as fast.
Model geared_wheels(Wheels wheels, double ratio, const Vec3d& axis) {
  Model model;
  for (int i = 0; i < 2; ++i) {
    const Vec3d half = i == 0 ? Vec3d{0.2, 0.2, 0.05} : Vec3d{0.1, 0.1, 0.05}, at{1.0 * i, 0, 0};
    if (wheels == Wheels::rigid) add_rigid_box(model, half, pose_at(at));
    else
      add_box(model, "wheel", 2.0 * half, at, 2, 0, {},
              wheels == Wheels::affine ? BoxBody::affine : BoxBody::deformable);
  }
  model.materials[0].young = 1e7;
  model.materials[0].density = 1000;
  Joint motor = joint_of(JointKind::hinge, "motor");
  motor.motor_speed = 4;
  motor.motor_limit = 3;
  join(model, motor, 0, -1, {0, 0, 0}, {0, 0, 1});
  join(model, joint_of(JointKind::hinge), 1, -1, {1, 0, 0}, axis);
  Joint gear = joint_of(JointKind::gear, "gear");
  gear.ratio = ratio;
  add_joint_between(model, gear, 1, 0, {{1, 0, 0}, turn_of_x(axis)}, {{0, 0, 0}, turn_of_x({0, 0, 1})});
  return model;
}

/// [rad] by which the frame of a joint's side has turned about its x since `before`.
double turned(const Pose& before, const Pose& now) {
  const Vec3d turn = rotation_vector(now.q * before.q.conjugate());
  return dot(turn, before.q.rotate({1, 0, 0}));
}

TEST_P(Gears, WheelsOfEveryKindTurnAtTheRatio) {
  for (const Wheels wheels : {Wheels::rigid, Wheels::affine, Wheels::deformable})
    for (const SolverKind solver : kFamilies)
      for (const double ratio : {-2.0, 0.5}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(wheels)) +
                     (solver == SolverKind::velocity ? ", velocity, " : ", ipc, ") + std::to_string(ratio));
        Model model = geared_wheels(wheels, ratio, {0, 0, 1});
        start(model, solver);
        double angles[2] = {0, 0};
        State last = engine->state();
        constexpr int kSteps = 60;
        for (int step = 0; step < kSteps; ++step) {
          const State now = run(1);
          for (int i = 0; i < 2; ++i)
            angles[i] += turned(frame_of(model, last, 0, static_cast<std::size_t>(i)),
                                frame_of(model, now, 0, static_cast<std::size_t>(i)));
          last = now;
        }
        EXPECT_NEAR(angles[1], ratio * angles[0], wheels == Wheels::rigid ? 1e-5 : 0.02);
        // The inertia that the motor feels is that of its wheel plus ratio^2 times that of the other one.
        // That of solids is that of their nodes: quarters and halves of the mass at -L/2, 0, L/2 in place of
        // L^2 / 12.
        const double of_nodes = wheels == Wheels::rigid ? 1 : 1.5;
        const double inertia = of_nodes * 16.0 * (0.2 * 0.2 + 0.2 * 0.2) / 3 +
                               of_nodes * ratio * ratio * 4.0 * (0.1 * 0.1 + 0.1 * 0.1) / 3;
        const double t = kSteps * params.dt;
        EXPECT_NEAR(angles[0], 0.5 * (3 / inertia) * t * (t + params.dt), 0.02 * angles[0]);
      }
}

/// Turns add up over steps: after more than a turn the error is that of one step. Axes may differ.
TEST_P(Gears, ABevelGearKeepsItsRatioOverManyTurns) {
  for (const SolverKind solver : kFamilies) {
    Model model = geared_wheels(Wheels::rigid, 3, {1, 0, 0});
    model.bodies[0].spin = {0, 0, 4};
    model.bodies[1].spin = {12, 0, 0};
    start(model, solver);
    double angles[2] = {0, 0};
    State last = engine->state();
    for (int step = 0; step < 400; ++step) {
      const State now = run(1);
      for (int i = 0; i < 2; ++i)
        angles[i] += turned(frame_of(model, last, 0, static_cast<std::size_t>(i)),
                            frame_of(model, now, 0, static_cast<std::size_t>(i)));
      last = now;
    }
    EXPECT_GT(angles[0], 2 * std::numbers::pi);
    EXPECT_NEAR(angles[1], 3 * angles[0], 1e-4);
  }
}

/// Turns are known up to full ones. A side that may have turned by half of one has no right answer.
TEST_P(Gears, AStepOfHalfATurnHasNotConverged) {
  for (const bool fast : {false, true}) {
    Model model = geared_wheels(Wheels::rigid, 0.25, {0, 0, 1});
    model.joints.erase(model.joints.begin());  // the motor
    model.bodies[0].moves = false;
    Motion motion;
    motion.angular_velocity = {0, 0, (fast ? 0.95 : 0.5) * std::numbers::pi / params.dt};
    model.bodies[0].motion = 0;
    model.body_motions.push_back(motion);
    start(model, SolverKind::ipc);
    const StepReport report = engine->step();
    EXPECT_EQ(report.converged, !fast) << report.stop_reason;
    EXPECT_EQ(report.stop_reason.find("a side of a gear") != std::string::npos, fast) << report.stop_reason;
  }
}

INSTANTIATE_ON_BACKENDS(Gears);

}  // namespace
}  // namespace stickslip
