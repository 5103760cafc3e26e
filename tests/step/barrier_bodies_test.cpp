// Rigid bodies under the barrier solvers, compared with mechanics; what they refuse.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "gpu/model/rigid_body.h"
#include "gpu/model/step_interrupted.h"
#include "gpu/model/steppers.h"
#include "tests/fixtures/box_model.h"
#include "tests/step/barrier_bodies_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::drawn_box;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class BarrierBodies : public fixtures::BarrierBodiesTest {};

TEST_P(BarrierBodies, FreeFlightKeepsMomentumAndTurnsAsImplicitEulerTurnsARigidBody) {
  params.dt = 1e-3;
  params.newton_tolerance = 1e-9;
  Model model;
  add_rigid_box(model, {0.1, 0.05, 0.03}, pose_at({0, 1, 0}));
  model.bodies[0].velocity = {0.3, 1, -0.2};
  model.bodies[0].spin = {0, 0, 2};
  load(model);
  const int steps = 100;
  StepReport report;
  for (int i = 0; i < steps; ++i) report = step();
  const double t = steps * params.dt, mass = 1000 * 0.2 * 0.1 * 0.06;
  const BodyState at = body(0);
  EXPECT_NEAR(at.pose.x[0], 0.3 * t, 1e-10);
  EXPECT_NEAR(at.pose.x[1], 1 + t + params.gravity * params.dt * params.dt * steps * (steps + 1) / 2, 1e-10);
  EXPECT_NEAR(report.momentum[0], mass * 0.3, 1e-10);
  // As in affine_test.cpp: implicit Euler turns by atan2(sin d, 2 - cos d) after a turn by d.
  double turn = std::atan(2 * params.dt), angle = turn;
  for (int i = 1; i < steps; ++i) angle += turn = std::atan2(std::sin(turn), 2 - std::cos(turn));
  EXPECT_NEAR(rotation_vector(at.pose.q)[2], angle, 1e-6 * angle);
  EXPECT_NEAR(at.spin[2], std::sin(turn) / params.dt, 1e-5);
}

/// A flat box on a half-space that is inclined by `slope` [rad].
Model box_on_slope(double slope, double mu) {
  Model model;
  const Vec3d normal{std::sin(slope), std::cos(slope), 0};
  model.half_spaces.push_back({normal, 0, mu, false, true});
  add_rigid_box(model, {0.2, 0.05, 0.2}, {0.0501 * normal, rotation_by(Vec3d{0, 0, -slope})});
  model.materials[0].mu = mu;
  return model;
}

TEST_P(BarrierBodies, BoxesSlideDownAnInclineAtCoulombsRate) {
  params.newton_tolerance = Params{}.newton_tolerance;
  const double slope = 0.5;
  for (const double mu : {0.3, 1.0}) {
    Model model = box_on_slope(slope, mu);
    load(model);
    for (int i = 0; i < 20; ++i) step();
    const Vec3d before = body(0).velocity;
    for (int i = 0; i < 30; ++i) step();
    const Vec3d down{std::cos(slope), -std::sin(slope), 0};
    const double rate = dot(body(0).velocity - before, down) / (30 * params.dt);
    const double want = std::max(0.0, 9.81 * (std::sin(slope) - mu * std::cos(slope)));
    EXPECT_NEAR(rate, want, 0.02 * 9.81) << mu;
  }
}

// The stiffness of sticking friction is proportional to 1 / eps_v: the first Newton step of a box that is
// about to slide is smaller than the tolerance, while half of its weight is not balanced yet.
TEST_P(BarrierBodies, ABoxThatShouldSlideSlidesHoweverStiffItsFrictionIs) {
  params.newton_tolerance = Params{}.newton_tolerance;
  params.eps_v = 1e-6;
  const double slope = 0.5, mu = 0.3;
  Model model = box_on_slope(slope, mu);
  load(model);
  const double mass = 1000 * 0.4 * 0.1 * 0.4, gravity = 9.81;
  for (int i = 0; i < 50; ++i) {
    const StepReport report = step();
    EXPECT_TRUE(report.converged) << report.stop_reason;
    EXPECT_LE(report.judgement->law.momentum, params.newton_tolerance * mass * gravity * params.dt) << i;
  }
  const double want = gravity * (std::sin(slope) - mu * std::cos(slope));
  EXPECT_NEAR(norm(body(0).velocity), 50 * params.dt * want, 0.02 * 50 * params.dt * gravity);
}

TEST_P(BarrierBodies, StacksCarryTheirWeightAtTheFloor) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 4; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  load(model);
  // The first multipliers of ccd_al take more iterations than a step has.
  for (int i = 0; params.solver == SolverKind::ccd_al && i < 3; ++i) engine->step();
  for (int i = 0; i < 60; ++i) step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double floor = 0;
  for (const ContactRecord& contact : snapshot.contacts)
    if (contact.object_b < 0) floor += contact.normal_force;
  const double weight = 4 * 8 * 9.81;
  EXPECT_NEAR(floor, weight, 0.02 * weight);
  // Surfaces that collide lie inside the bodies; the gaps of ccd_al are smaller than those of a barrier.
  const double lower = params.solver == SolverKind::ccd_al ? 7e-3 : 5e-3;
  for (std::size_t b = 0; b < 4; ++b)
    EXPECT_NEAR(body(b).pose.x[1], 0.1 + 0.2 * static_cast<double>(b), lower);
}

TEST_P(BarrierBodies, APendulumSwingsWithItsPeriod) {
  params.dt = 2e-3;
  Model model;
  const double length = 0.5, half = 0.05, start = 0.1;
  add_rigid_box(model, {half, half, half}, pose_at({length * std::sin(start), -length * std::cos(start), 0}));
  Joint joint;
  joint.name = "pivot";
  joint.kind = JointKind::hinge;
  joint.a = 0;
  add_joint(model, joint, {{0, 0, 0}, turn_of_x({0, 0, 1})});
  load(model);
  const double inertia = length * length + 2 * half * half / 3;
  const double quarter = std::acos(-1.0) / 2 * std::sqrt(inertia / (9.81 * length));
  int steps = 0;
  while (body(0).pose.x[0] > 0 && steps < 1000) {
    const StepReport report = step();
    EXPECT_LE(report.joint_residual, params.joint_tolerance);
    ++steps;
  }
  EXPECT_NEAR(steps * params.dt, quarter, 0.02 * quarter);
  EXPECT_NEAR(norm(body(0).pose.x), length, 1e-4);
}

TEST_P(BarrierBodies, OverlapsAreOpenedWithoutMovingTheBodies) {
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 0}));
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0.01, 0.196, 0}));
  params.gravity = 0;
  load(model);
  EXPECT_NE(engine->load_note().find("2 rigid bodies"), std::string::npos) << engine->load_note();
  EXPECT_NEAR(body(1).pose.x[1], 0.196, 1e-15);
  for (int i = 0; i < 5; ++i) step();
}

TEST_P(BarrierBodies, DeepOverlapsAreMovedApartBeforeTheFirstStep) {
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 0}));
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0.02}));
  model.bodies[1].velocity = {0, 0, 0.3};
  params.gravity = 0;
  load(model);
  EXPECT_NE(engine->load_note().find("moved apart"), std::string::npos) << engine->load_note();
  const Vec3d apart = body(1).pose.x - body(0).pose.x;
  EXPECT_NEAR(apart[1], 0.2, 2e-3) << "along the smallest separation";
  EXPECT_NEAR(body(1).velocity[2], 0.3, 1e-12) << "without speed";
  for (int i = 0; i < 5; ++i) step();
}

TEST_P(BarrierBodies, AreMovedApartAlsoWhileStepsAreCancelled) {
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 0}), false);
  Motion rising;
  rising.velocity = {0, 0.3, 0};
  model.body_motions.push_back(rising);
  model.bodies[0].motion = 0;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0.02}));
  params.gravity = 0;
  const std::atomic<bool> cancel = true;
  engine->set_cancel(&cancel);
  ASSERT_NO_THROW(load(model));
  EXPECT_NEAR(body(1).pose.x[1], 0.2, 1e-2);
  ASSERT_NO_THROW(engine->reset());
  EXPECT_NEAR(body(1).pose.x[1], 0.2, 1e-2);
  EXPECT_THROW(engine->step(), StepInterrupted);
  engine->set_cancel(nullptr);
  step();
}

TEST_P(BarrierBodies, BodiesThatCannotPartAreRefusedByName) {
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 0}));
  for (const double side : {-1.0, 1.0})
    add_rigid_box(model, {0.1, 1, 1}, pose_at({0.11 * side, 0, 0}), false);
  finalize(model);
  engine->set_params(params);
  try {
    engine->load(model);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'body 0'"), std::string::npos) << error.what();
  }
}

/// A bar of 0.4 m whose end is joined to the world.
Model bar_on(Joint joint, const Pose& frame) {
  Model model;
  add_rigid_box(model, {0.2, 0.03, 0.04}, pose_at({0.2, 0, 0}));
  joint.name = "joint";
  joint.a = 0;
  add_joint(model, joint, frame);
  return model;
}
const Pose kAboutZ{{0, 0, 0}, turn_of_x({0, 0, 1})};
double angle_of(const BodyState& body) { return rotation_vector(body.pose.q)[2]; }

TEST_P(BarrierBodies, HingesStopAtTheirLimits) {
  params.dt = 5e-3;
  Joint joint;
  joint.kind = JointKind::hinge;
  joint.low = -0.6;
  joint.high = 0.2;
  Model model = bar_on(joint, kAboutZ);
  load(model);
  double least = 0;
  for (int i = 0; i < 150; ++i) {
    const StepReport report = step();
    EXPECT_LE(report.joint_residual, params.joint_tolerance);
    least = std::min(least, angle_of(body(0)));
  }
  EXPECT_NEAR(least, -0.6, 1e-3);
  EXPECT_NEAR(angle_of(body(0)), -0.6, 1e-3);
  EXPECT_LT(norm(body(0).spin), 1e-2);
}

TEST_P(BarrierBodies, JointsTakeNoMoreIterationsThanAStepMay) {
  Joint joint;
  joint.kind = JointKind::hinge;
  params.joint_tolerance = 1e-11;
  Model model = bar_on(joint, kAboutZ);
  load(model);
  const int enough = step().newton_iterations;
  ASSERT_GT(enough, 2) << "the test needs a step with several minimisations";
  params.newton_iterations = enough - 1;
  engine->set_params(params);
  engine->reset();
  const StepReport report = engine->step();
  EXPECT_EQ(report.newton_iterations, params.newton_iterations);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.stop_reason, "iteration cap");
}

TEST_P(BarrierBodies, MotorsReachTheirSpeedOrPushWithTheirLimit) {
  params.gravity = 0;
  params.dt = 5e-3;
  const double mass = 1000 * 8 * 0.2 * 0.03 * 0.04,
               inertia = mass * (0.2 * 0.2 + (0.2 * 0.2 + 0.03 * 0.03) / 3);
  for (const double limit : {1e3, 0.4}) {
    Joint joint;
    joint.kind = JointKind::hinge;
    joint.motor_speed = 2;
    joint.motor_limit = limit;
    Model model = bar_on(joint, kAboutZ);
    load(model);
    for (int i = 0; i < 40; ++i) step();
    const double free = limit * 0.2 / inertia, want = std::min(2.0, free);
    EXPECT_NEAR(body(0).spin[2], want, 0.01 * want) << limit;
  }
}

TEST_P(BarrierBodies, SlidersSlideFreelyAlongTheirAxisOnly) {
  params.dt = 5e-3;
  const double tilt = 0.4;
  Joint joint;
  joint.kind = JointKind::slider;
  Model model = bar_on(joint, {{0.2, 0, 0}, turn_of_x({std::cos(tilt), -std::sin(tilt), 0})});
  load(model);
  const BodyState start = body(0);
  for (int i = 0; i < 60; ++i) EXPECT_LE(step().joint_residual, params.joint_tolerance);
  const double t = 60 * params.dt;
  const Vec3d way = body(0).pose.x - start.pose.x, down{std::cos(tilt), -std::sin(tilt), 0};
  EXPECT_NEAR(dot(body(0).velocity, down), 9.81 * std::sin(tilt) * t, 1e-3);
  EXPECT_LT(norm(way - dot(way, down) * down), 1e-4);
  EXPECT_LT(norm(rotation_vector(body(0).pose.q)), 1e-3);
}

TEST_P(BarrierBodies, FixedAndDistanceJointsHold) {
  Model model;
  add_rigid_box(model, {0.2, 0.03, 0.04}, pose_at({0.2, 0, 0}));
  add_rigid_box(model, {0.2, 0.03, 0.04}, pose_at({0.6, 0, 0}));
  add_rigid_sphere(model, 0.05, {0.8, -0.2, 0});
  Joint joint;
  joint.name = "wall";
  joint.kind = JointKind::fixed;
  joint.a = 0;
  add_joint(model, joint, pose_at({0, 0, 0}));
  joint.name = "weld";
  joint.a = 1;
  joint.b = 0;
  add_joint(model, joint, pose_at({0.4, 0, 0}));
  Joint rope;
  rope.name = "rope";
  rope.kind = JointKind::distance;
  rope.a = 2;
  rope.b = 1;
  rope.low = 0;
  rope.high = 0.5;
  add_joint(model, rope, pose_at({0.8, -0.2, 0}), pose_at({0.8, 0, 0}));
  load(model);
  for (int i = 0; i < 60; ++i) EXPECT_LE(step().joint_residual, params.joint_tolerance);
  EXPECT_LT(norm(body(1).pose.x - Vec3d{0.6, 0, 0}), 2e-3) << "stiff, but for the strain";
  const Vec3d end = body(1).pose.apply({0.2, 0, 0});
  EXPECT_NEAR(norm(body(2).pose.x - end), 0.5, 2e-3);
}

TEST_P(BarrierBodies, ThePointerPullsADrawnSurface) {
  params.gravity = 0;
  Model model = drawn_box();
  load(model);
  engine->set_drag(Drag{{0, 1, 2}, {0.25, 0.25, 0.5}, {0.2, 0, 0}});  // the middle of the face at x = 0.1
  step();
  // The spring pulls with k (0.1 m - its shortening): implicit Euler of a mass on a spring.
  const double m = 8, k = params.drag_stiffness, dt = params.dt;
  EXPECT_NEAR(body(0).velocity[0], dt * k * 0.1 / (m + dt * dt * k), 1e-6);
  EXPECT_LT(norm(body(0).spin), 1e-6);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  EXPECT_NEAR(snapshot.positions[0][0], 0.1 + body(0).pose.x[0], 1e-6) << "drawn without the skin";
}

TEST_P(BarrierBodies, ContactsNameTheObjectsOfTheScene) {
  Model model;
  fixtures::add_floor(model);
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0}));
  add_rigid_sphere(model, 0.1, {0, 0.3, 0});
  load(model);
  for (int i = 0; i < 20; ++i) step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  ASSERT_EQ(snapshot.poses.size(), 2U);
  bool touch = false;
  for (const ContactRecord& c : snapshot.contacts)
    touch |= std::min(c.object_a, c.object_b) == 0 && std::max(c.object_a, c.object_b) == 1;
  EXPECT_TRUE(touch);
}

TEST_P(BarrierBodies, MaterialsThatTheyCannotTakeAreRefusedWhileTheSceneRuns) {
  Model model;
  add_rigid_sphere(model, 0.1, {0, 1, 0});
  load(model);
  step();
  std::vector<Material> bouncy = model.materials;
  bouncy[0].restitution = 0.5;
  bouncy[0].mu = 0.7;
  EXPECT_THROW(engine->set_materials(bouncy), std::invalid_argument);
  EXPECT_EQ(engine->materials()[0].restitution, 0) << "all stay as they were";
  EXPECT_EQ(engine->materials()[0].mu, model.materials[0].mu);
  step();
  params.drop_unsupported = true;
  engine->set_params(params);
  engine->set_materials(bouncy);
  EXPECT_EQ(engine->materials()[0].restitution, 0.5);
  step();
}

TEST_P(BarrierBodies, NodesThatAScriptHoldsBehindAHalfSpaceStay) {
  Model model;
  fixtures::add_floor(model);
  const Object& block =
      fixtures::add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1 - 0.5 * params.d_hat, 0}, 2);
  ScriptedNodes held;
  for (std::int32_t i = block.node_begin; i < block.node_end; ++i)
    if (model.positions[static_cast<std::size_t>(i)][1] < 0) held.nodes.push_back(i);
  ASSERT_EQ(held.nodes.size(), 9U);
  model.scripted.push_back(held);
  add_rigid_sphere(model, 0.1, {1, 0.2, 0});
  load(model);
  EXPECT_EQ(engine->load_note(), "");
  const State state = engine->state();
  for (const std::int32_t node : held.nodes) {
    const auto n = static_cast<std::size_t>(node);
    EXPECT_EQ(state.positions[n], model.positions[n]) << "node " << node;
  }
  step();
}

INSTANTIATE_ON_BARRIERS(BarrierBodies);

TEST(BarrierBodiesDeterminism, TheCpuGivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<State> states;
  for (const int threads : {1, 2, 3}) {
    Model model;
    fixtures::add_floor(model);
    fixtures::add_pyramid(model, 3, 0.1);
    add_rigid_sphere(model, 0.1, {1, 0.1, 0});
    add_rigid_sphere(model, 0.1, {1, 0.31, 0});
    Joint joint;
    joint.name = "pin";
    joint.a = static_cast<std::int32_t>(model.bodies.size()) - 1;
    joint.b = joint.a - 1;
    add_joint(model, joint, pose_at({1, 0.2, 0}));
    finalize(model);
    const auto engine = make_engine(Backend::cpu, threads);
    engine->set_params(Params{});
    engine->load(model);
    for (int i = 0; i < 4; ++i) engine->step();
    states.push_back(engine->state());
  }
  for (const State& state : states)
    for (std::size_t b = 0; b < state.bodies.size(); ++b) {
      ASSERT_EQ(state.bodies[b].pose.x, states[0].bodies[b].pose.x) << "body " << b;
      ASSERT_EQ(state.bodies[b].spin, states[0].bodies[b].spin) << "body " << b;
    }
}

TEST(BarrierRefusals, NameWhatHasNoMeaningInOneMessage) {
  Model model;
  add_rigid_sphere(model, 0.1, {0, 1, 0});
  model.materials[0].restitution = 0.5;
  model.materials[0].friction_kind = FrictionKind::matchstick;
  const auto refusal = stepper_refusal(model, SolverKind::ipc);
  ASSERT_TRUE(refusal.has_value());
  for (const char* part : {"restitution of 'default'", "matchstick friction of 'default'", "--force"})
    EXPECT_NE(refusal->text().find(part), std::string::npos) << refusal->text();
  EXPECT_FALSE(stepper_refusal(model, SolverKind::ipc, true).has_value());
}

}  // namespace
}  // namespace stickslip
