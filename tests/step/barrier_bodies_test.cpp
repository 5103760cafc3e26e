// Rigid bodies under the barrier solvers, compared with mechanics, and changes of the family during a run.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>
#include <thread>

#include "gpu/core/trace_span.h"
#include "gpu/model/rigid_body.h"
#include "gpu/model/step_interrupted.h"
#include "gpu/model/steppers.h"
#include "tests/fixtures/backend_fixture.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class BarrierBodies : public fixtures::EngineTestOf<fixtures::BackendSolver> {
 protected:
  BarrierBodies() {
    params.solver = GetParam().solver;
    params.newton_tolerance = 1e-5;
  }

  void prepare() override {
    if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
    EngineTestOf::prepare();
  }
  /// Steps, and checks what holds after every step.
  StepReport step() {
    StepReport report = EngineTestOf::step();
    EXPECT_GE(report.body_strain, 0);
    EXPECT_LE(report.body_strain, params.strain_bound);
    return report;
  }
  BodyState body(std::size_t b) { return engine->state().bodies[b]; }
};

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

TEST_P(BarrierBodies, BoxesSlideDownAnInclineAtCoulombsRate) {
  params.newton_tolerance = Params{}.newton_tolerance;
  const double slope = 0.5;
  for (const double mu : {0.3, 1.0}) {
    Model model;
    const Vec3d normal{std::sin(slope), std::cos(slope), 0};
    model.half_spaces.push_back({normal, 0, mu, false, true});
    add_rigid_box(model, {0.2, 0.05, 0.2}, {0.0501 * normal, rotation_by(Vec3d{0, 0, -slope})});
    model.materials[0].mu = mu;
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

TEST_P(BarrierBodies, StacksCarryTheirWeightAtTheFloor) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 4; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  load(model);
  for (int i = 0; i < 60; ++i) step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double floor = 0;
  for (const ContactRecord& contact : snapshot.contacts)
    if (contact.object_b < 0) floor += contact.normal_force;
  const double weight = 4 * 8 * 9.81;
  EXPECT_NEAR(floor, weight, 0.02 * weight);
  for (std::size_t b = 0; b < 4; ++b)
    EXPECT_NEAR(body(b).pose.x[1], 0.1 + 0.2 * static_cast<double>(b), 5e-3);
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
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 0}));
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0.02}));
  params.gravity = 0;
  const std::atomic<bool> cancel = true;
  engine->set_cancel(&cancel);
  ASSERT_NO_THROW(load(model));
  const auto apart = [&] { return body(1).pose.x[1] - body(0).pose.x[1]; };
  EXPECT_NEAR(apart(), 0.2, 2e-3);
  ASSERT_NO_THROW(engine->reset());
  EXPECT_NEAR(apart(), 0.2, 2e-3);
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

/// A box with a triangle to pull it at: the middle of its face at x = 0.1 m is at the weights 1/4, 1/4, 1/2.
Model drawn_box() {
  Model model;
  model.material_names = {"m"};
  model.materials = {Material{}};
  BodyPart part = make_part(ShapeKind::box, {0.1, 0.1, 0.1});
  part.nodes = {{0.1, 0.1, 0.1}, {0.1, 0.1, -0.1}, {0.1, -0.1, 0}};
  part.triangles = {{0, 1, 2}};
  add_body(model, "box", assemble({part}), 0, {});
  return model;
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

/// A body so far away that rounding of its nodes strains it beyond the bound.
Model far_box(Params& params) {
  params.strain_bound = 1e-7;
  params.gravity = 0;
  params.newton_tolerance = 0.1;
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({1e9, 1e9, 1e9}));
  return model;
}

TEST_P(BarrierBodies, StepsThatLeaveABodyStrainedDoNotCountAsConverged) {
  Model model = far_box(params);
  load(model);
  const StepReport report = engine->step();
  EXPECT_GT(report.body_strain, params.strain_bound);
  EXPECT_FALSE(report.converged);
  EXPECT_NE(report.stop_reason.find("strain_bound"), std::string::npos) << report.stop_reason;
}

TEST_P(BarrierBodies, StayFiniteHoweverManyStepsStrainThemTooMuch) {
  Model model = far_box(params);
  load(model);
  for (int i = 0; i < 60; ++i) ASSERT_NO_THROW(engine->step()) << i;
}

TEST_P(BarrierBodies, AStepThatDidNotConvergeIsNotRepeatedWithStifferOnes) {
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 0}));
  model.bodies[0].spin = {0, 0, 1};
  params.strain_bound = 1e-7;
  params.newton_iterations = 1;
  load(model);
  const StepReport report = engine->step();
  EXPECT_GT(report.body_strain, params.strain_bound) << "one iteration stretches a body that turns";
  EXPECT_EQ(report.strain_repeats, 0);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.stop_reason, "iteration cap");
}

/// With a stiff spring this strains `drawn_box` beyond the bound at first.
const Drag kStrainingPull{{0, 1, 2}, {0.25, 0.25, 0.5}, {1, 0, 0}};

TEST_P(BarrierBodies, TheReportCountsAllAttemptsOfAStep) {
  Model model = drawn_box();
  params.drag_stiffness = 1e6;
  load(model);
  engine->set_drag(kStrainingPull);
  engine->set_tracing(true);
  const StepReport report = step();
  ASSERT_GT(report.strain_repeats, 0);
  const std::string_view name = "newton iteration";
  double seconds = 0;
  long iterations = 0;
  for (const TraceSpan& span : report.trace) {
    if (span.name != name) continue;
    seconds += span.end - span.begin;
    ++iterations;
  }
  EXPECT_EQ(report.newton_iterations, iterations);
  EXPECT_EQ(static_cast<long>(report.newton.size()), iterations);
  long pcg = 0;
  for (const NewtonRecord& record : report.newton) pcg += record.pcg_iterations;
  EXPECT_EQ(report.pcg_iterations, pcg);
  EXPECT_GE(report.seconds.total(), 0.999 * seconds);
}

/// In fresh runs of the same step, a flag is set after different times.
TEST_P(BarrierBodies, AnInterruptedRepeatLeavesTheStateOfTheStepBefore) {
  Model model = drawn_box();
  for (int i = 0; i < 30; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 1.0 + i}));
  params.drag_stiffness = 1e6;
  std::atomic<bool> cancel = false;
  engine->set_cancel(&cancel);
  load(model);
  engine->set_drag(kStrainingPull);
  const double begin = trace_clock();
  ASSERT_GT(step().strain_repeats, 0);
  const double seconds = trace_clock() - begin;
  const int times = 40;
  int interrupted = 0;
  for (int i = 0; i < times; ++i) {
    engine->reset();
    const State before = engine->state();
    std::thread timer([&, end = trace_clock() + i * seconds / times] {
      while (trace_clock() < end) std::this_thread::yield();
      cancel = true;
    });
    bool ended = false;
    try {
      engine->step();
    } catch (const StepInterrupted&) {
      ended = true;
    }
    timer.join();
    cancel = false;
    if (!ended) continue;
    ++interrupted;
    const State after = engine->state();
    EXPECT_EQ(after.frame, before.frame);
    for (std::size_t b = 0; b < before.bodies.size(); ++b) {
      ASSERT_EQ(after.bodies[b].pose.x, before.bodies[b].pose.x) << "body " << b;
      ASSERT_EQ(after.bodies[b].velocity, before.bodies[b].velocity) << "body " << b;
    }
    if (i % 8 == 0) step();
  }
  EXPECT_GT(interrupted, 0);
}

TEST_P(BarrierBodies, RepeatsShareTheIterationsAndTheTimeOfOneStep) {
  Model model = far_box(params);
  load(model);
  const StepReport all = engine->step();
  ASSERT_GT(all.strain_repeats, 0);
  params.newton_iterations = all.newton_iterations - 1;
  engine->set_params(params);
  engine->reset();
  EXPECT_LE(engine->step().newton_iterations, params.newton_iterations);
  params.newton_iterations = 200;
  params.budget_ms = 1e-6;
  engine->set_params(params);
  engine->reset();
  const StepReport report = engine->step();
  EXPECT_EQ(report.strain_repeats, 0) << "the first attempt took longer than that";
  EXPECT_TRUE(report.stopped_by_budget);
  EXPECT_FALSE(report.converged);
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
  const Object& block = fixtures::add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1 - 0.5 * params.d_hat, 0}, 2);
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

INSTANTIATE_TEST_SUITE_P(Backends, BarrierBodies,
                         ::testing::Values(fixtures::BackendSolver{Backend::cpu, SolverKind::ipc},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::barrier_al},
                                           fixtures::BackendSolver{Backend::cuda, SolverKind::ipc}),
                         fixtures::ParamName{});

class SwitchingFamilies : public fixtures::EngineTest {
 protected:
  void prepare() override {
    if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
    fixtures::EngineTest::prepare();
  }
};

double distance_of(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max(most, norm(a.bodies[i].pose.x - b.bodies[i].pose.x));
  return most;
}

/// Largest change of a body's momentum or angular momentum, relative to its mass and size.
double momentum_jump(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max({most, norm(a.bodies[i].velocity - b.bodies[i].velocity),
                     0.1 * norm(a.bodies[i].spin - b.bodies[i].spin)});
  return most;
}

TEST_P(SwitchingFamilies, KeepPlacesAndMomentaExactly) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 3; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  add_rigid_box(model, {0.1, 0.06, 0.03}, pose_at({0.5, 0.6, 0}, {0.3, 0.2, 0.1}));
  model.bodies[3].spin = {3, -5, 4};
  model.bodies[3].velocity = {-0.5, 0, 0.2};
  add_rigid_sphere(model, 0.08, {1, 0.081, 0});
  model.bodies[4].velocity = {1, 0, 0};
  params.check_intersections = false;
  params.solver = SolverKind::velocity;
  load(model);
  const SolverKind order[] = {SolverKind::velocity, SolverKind::ipc,        SolverKind::barrier_al,
                              SolverKind::velocity, SolverKind::barrier_al, SolverKind::velocity};
  for (const SolverKind solver : order) {
    const State before = engine->state();
    params.solver = solver;
    engine->set_params(params);
    const State after = engine->state();
    EXPECT_LE(distance_of(before, after), 1e-14);
    EXPECT_LE(momentum_jump(before, after), 1e-10);
    for (int i = 0; i < 15; ++i) engine->step();
  }
  EXPECT_EQ(engine->state().frame, 90);
  for (std::size_t b = 0; b < 3; ++b)
    EXPECT_NEAR(engine->state().bodies[b].pose.x[1], 0.1 + 0.2 * static_cast<double>(b), 6e-3);
}

/// Boxes at velocity level, all of which are then `depth` [m] too low.
class SunkenSolids : public SwitchingFamilies {
 protected:
  State sink(Model& model, double depth) {
    params.solver = SolverKind::velocity;
    params.check_intersections = false;
    load(model);
    for (int i = 0; i < 3; ++i) engine->step();
    State state = engine->state();
    double lowest = 1e300;
    for (const Vec3d& x : state.positions) lowest = std::min(lowest, x[1]);
    for (Vec3d& x : state.positions) x[1] -= lowest + depth;
    engine->set_state(state);
    return state;
  }
  void switch_to(SolverKind solver) {
    params.solver = solver;
    params.check_intersections = true;
    engine->set_params(params);
  }
};

TEST_P(SunkenSolids, AreLiftedOutOfHalfSpacesWhereTheSolverChanges) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const fixtures::Body body : {fixtures::Body::deformable, fixtures::Body::affine}) {
      SCOPED_TRACE(std::string(body == fixtures::Body::affine ? "affine" : "deformable"));
      Model model;
      fixtures::add_floor(model);
      fixtures::add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.101, 0}, 2, 0, {0, 0, 0}, body);
      const double depth = 0.3 * params.d_hat;
      const State sunken = sink(model, depth);
      ASSERT_NO_THROW(switch_to(solver));
      EXPECT_NE(engine->load_note().find("moved out of half-spaces"), std::string::npos)
          << engine->load_note();
      const State lifted = engine->state();
      for (std::size_t i = 0; i < sunken.positions.size(); ++i) {
        const double way = norm(lifted.positions[i] - sunken.positions[i]);
        if (sunken.positions[i][1] > params.d_hat && body == fixtures::Body::deformable) {
          EXPECT_EQ(way, 0) << "node " << i;
        } else {
          EXPECT_LE(way, depth + 0.021 * params.d_hat) << "node " << i;
        }
        EXPECT_GT(lifted.positions[i][1], 0) << "node " << i;
      }
      for (int i = 0; i < 5; ++i) step();
    }
}

TEST_P(SunkenSolids, AreAnErrorOfASceneThatStartsWithThem) {
  Model model;
  fixtures::add_floor(model);
  fixtures::add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.1 - 0.3 * params.d_hat, 0}, 2);
  EXPECT_THROW(load(model), std::invalid_argument);
  params.solver = SolverKind::velocity;
  load(model);
  EXPECT_THROW(switch_to(SolverKind::ipc), std::invalid_argument);
}

TEST_P(SunkenSolids, KeepGapsHoweverSmallInFrontOfHalfSpaces) {
  Model model;
  fixtures::add_floor(model);
  fixtures::add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.101, 0}, 2);
  const State low = sink(model, -1e-3 * params.d_hat);
  switch_to(SolverKind::ipc);
  EXPECT_EQ(engine->load_note(), "");
  for (std::size_t i = 0; i < low.positions.size(); ++i)
    EXPECT_EQ(engine->state().positions[i], low.positions[i]) << "node " << i;
}

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
  model.joints.emplace_back();
  model.joints.back().name = "cogs";
  model.joints.back().kind = JointKind::gear;
  EXPECT_NE(stepper_refusal(model, SolverKind::ipc, true)->text().find("'cogs'"), std::string::npos);
}

INSTANTIATE_ON_BACKENDS(SwitchingFamilies);
INSTANTIATE_ON_BACKENDS(SunkenSolids);

}  // namespace
}  // namespace stickslip
