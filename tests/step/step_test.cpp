// Whole steps through the Engine interface, compared with mechanics. Every test runs on each available
// backend.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::mean;
using fixtures::Vec3d;

class Step : public fixtures::EngineTest {};

TEST_P(Step, FallsFreelyAsImplicitEulerDoes) {
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 1, 0}, 2, 20, {0.3, 1.0, -0.2});
  load(model);
  const int steps = 10;
  for (int i = 0; i < steps; ++i) step();
  const State state = engine->state();
  const double t = steps * params.dt;
  const Vec3d moved =
      mean(state.positions, 0, model.node_count()) - mean(model.positions, 0, model.node_count());
  EXPECT_NEAR(moved[0], 0.3 * t, 1e-9);
  EXPECT_NEAR(moved[1], 1.0 * t + params.gravity * params.dt * params.dt * steps * (steps + 1) / 2, 1e-9);
  EXPECT_NEAR(moved[2], -0.2 * t, 1e-9);
}

TEST_P(Step, ABoxComesToRestOnTheGroundInsideTheBarrier) {
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.06, 0}, 2);
  model.half_spaces.push_back({});
  load(model);
  StepReport report;
  for (int i = 0; i < 120; ++i) report = step();
  EXPECT_GT(report.gap_min, 0);
  EXPECT_LT(report.gap_min, params.d_hat);
  EXPECT_LT(report.kinetic_energy, 1e-8);
  // The ground carries the weight: m g = 1 kg * 9.81.
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double force = 0;
  for (const ContactRecord& contact : snapshot.contacts) force += contact.normal_force * contact.normal[1];
  EXPECT_NEAR(force, 9.81, 0.02);
}

TEST_P(Step, TwoBoxesThatCollideConserveMomentum) {
  params.gravity = 0;
  Model model;
  add_box(model, "left", {0.1, 0.1, 0.1}, {-0.08, 0.013, 0.007}, 2, 10, {1.0, 0, 0});
  add_box(model, "right", {0.1, 0.1, 0.1}, {0.08, 0, 0}, 2, -7, {-0.5, 0, 0});
  load(model);
  const double momentum = 1.0 * 1.0 - 1.0 * 0.5;
  bool touched = false;
  double energy = 1e30;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    touched = touched || report.contacts > 0;
    EXPECT_NEAR(report.momentum[0], momentum, 2e-3);
    EXPECT_NEAR(report.momentum[1], 0, 2e-3);
    const double now = report.kinetic_energy + report.elastic_energy;
    EXPECT_LT(now, energy * 1.001 + 1e-6);
    energy = now;
  }
  EXPECT_TRUE(touched);
}

/// A block of 0.2 m on a plane of 20 degrees, initially at rest: displacement of its centre down the slope
/// after `seconds`.
double slide(Engine& engine, Params params, double mu, double seconds) {
  const double angle = 20 * M_PI / 180;
  const Vec3d normal{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
  Model model;
  add_box(model, "block", {0.2, 0.1, 0.2}, 0.0512 * normal, 2, -20);
  model.materials[0].young = 1e6;
  model.materials[0].mu = mu;
  model.half_spaces.push_back({normal, 0, mu});
  finalize(model);
  engine.set_params(params);
  engine.load(model);
  for (double t = 0; t < seconds - 1e-9; t += params.dt) {
    const StepReport report = engine.step();
    EXPECT_TRUE(report.converged) << report.frame << ": " << report.stop_reason;
  }
  const State state = engine.state();
  return dot(mean(state.positions, 0, model.node_count()) - mean(model.positions, 0, model.node_count()),
             down);
}

TEST_P(Step, ABlockSticksBelowTheFrictionAngleAndSlidesAboveIt) {
  params.dt = 0.01;
  params.d_hat = 2e-3;
  const double angle = 20 * M_PI / 180, seconds = 0.5;
  EXPECT_LT(std::abs(slide(*engine, params, 1.1 * std::tan(angle), seconds)), 2e-3);
  for (const double mu : {0.0, 0.2}) {
    const double acceleration = 9.81 * (std::sin(angle) - mu * std::cos(angle));
    // Implicit Euler from rest: a dt^2 n (n + 1) / 2.
    const int n = static_cast<int>(std::lround(seconds / params.dt));
    const double expected = acceleration * params.dt * params.dt * n * (n + 1) / 2;
    EXPECT_NEAR(slide(*engine, params, mu, seconds), expected, 0.02 * expected) << "mu " << mu;
  }
}

TEST_P(Step, ScriptedNodesReachTheirTargetsAndHeldOnesStay) {
  params.gravity = 0;
  Model model;
  Object& bar = add_box(model, "bar", {0.4, 0.1, 0.1}, {0, 0, 0}, 2);
  ScriptedNodes held, moved;
  moved.motion.velocity = {0.1, 0, 0};
  for (int i = bar.node_begin; i < bar.node_end; ++i) {
    if (model.positions[i][0] < -0.19) held.nodes.push_back(i);
    if (model.positions[i][0] > 0.19) moved.nodes.push_back(i);
  }
  model.scripted = {held, moved};
  load(model);
  StepReport report;
  for (int i = 0; i < 12; ++i) report = step();
  const State state = engine->state();
  for (const int i : held.nodes) EXPECT_EQ(state.positions[i], model.positions[i]);
  for (const int i : moved.nodes)
    EXPECT_NEAR(state.positions[i][0], model.positions[i][0] + 0.1 * 12 * params.dt, 1e-12);
  EXPECT_GT(report.elastic_energy, 0);
}

TEST_P(Step, APressingPlateDoesNotPenetrate) {
  params.gravity = 0;
  params.d_hat = 1e-3;
  Model model;
  add_box(model, "block", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 2);
  model.half_spaces.push_back({});
  Motion down;
  down.velocity = {0, -0.3, 0};
  down.end = 0.1;
  fixtures::BoxMesh plate = fixtures::box_lattice({0.3, 0.02, 0.3}, {0.003, 0.115, 0.002}, {1, 1, 1});
  Model shell;
  shell.materials = model.materials;
  shell.material_names = model.material_names;
  add_solid(shell, "plate", plate.nodes, plate.tets, 0);
  add_collider(model, "plate", plate.nodes, shell.triangles, 0, down);
  load(model);
  const std::size_t last = model.node_count() - 1;
  for (int i = 0; i < 12; ++i) step();
  const State state = engine->state();
  // 30 mm down from a clearance of 3 mm: the block is squeezed by about 27 mm and the plate reaches its
  // target.
  EXPECT_NEAR(state.positions[last][1], model.positions[last][1] - 0.03, 1e-4);
  const Object& block = model.objects[0];
  double top = 0;
  for (int i = block.node_begin; i < block.node_end; ++i) top = std::max(top, state.positions[i][1]);
  EXPECT_LT(top, 0.105 - 0.03 + 1e-9);
}

TEST_P(Step, ASpringPullsThePickedPointToItsTarget) {
  params.gravity = 0;
  params.drag_stiffness = 500;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0, 0}, 2);
  load(model);
  const Vec3i triangle = model.triangles[0];
  const Vec3d target = model.positions[triangle[0]] + Vec3d{0.2, 0.1, 0};
  engine->set_drag(Drag{triangle, {1, 0, 0}, target});
  for (int i = 0; i < 200; ++i) step();
  EXPECT_LT(norm(engine->state().positions[triangle[0]] - target), 0.02);
}

TEST_P(Step, ASteadySimulationAllocatesNothing) {
  Model model;
  add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 2);
  add_box(model, "upper", {0.1, 0.1, 0.1}, {0.01, 0.155, 0.01}, 2, 3);
  model.half_spaces.push_back({});
  load(model);
  for (int i = 0; i < 60; ++i) step();
  std::size_t allocations = 0;
  for (int i = 0; i < 20; ++i) allocations += step().counters.allocations;
  EXPECT_EQ(allocations, 0u);
}

TEST_P(Step, TheBudgetStopsNewtonEarlyAndTheReportSaysSo) {
  params.budget_ms = 1e-6;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.0509, 0}, 2, 0, {0, -3, 0});
  model.half_spaces.push_back({});
  load(model);
  const StepReport report = engine->step();
  EXPECT_TRUE(report.stopped_by_budget);
  EXPECT_EQ(report.newton_iterations, 1);
  EXPECT_EQ(report.intersections, 0);
}

TEST_P(Step, BothReadingsOfFrictionAgreeOnABlockAtRest) {
  params.dt = 0.01;
  params.friction_update = FrictionUpdate::lagged;
  params.friction_lags = 2;
  EXPECT_LT(std::abs(slide(*engine, params, 0.5, 0.3)), 2e-3);
}

TEST_P(Step, LaggedFrictionTakesNoMoreIterationsThanAStepMay) {
  params.friction_update = FrictionUpdate::lagged;
  params.friction_lags = 3;
  params.newton_iterations = 2;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.0509, 0}, 2, 0, {0, -3, 0});
  model.half_spaces.push_back({});
  load(model);
  const StepReport report = step_unconverged();
  EXPECT_EQ(report.newton_iterations, 2);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.stop_reason, "iteration cap");
}

TEST_P(Step, AnIntersectingStartIsRefusedWithNames) {
  Model model;
  add_box(model, "first", {0.1, 0.1, 0.1}, {0, 0.5, 0}, 1);
  add_box(model, "second", {0.1, 0.1, 0.1}, {0.03, 0.52, 0.01}, 1, 30);
  finalize(model);
  try {
    engine->load(model);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("first"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("second"), std::string::npos) << error.what();
  }
}

TEST_P(Step, NanStopsTheStepAndKeepsTheLastGoodState) {
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.5, 0}, 1);
  load(model);
  step();
  State broken = engine->state();
  broken.velocities[3][1] = std::nan("");
  engine->set_state(broken);
  EXPECT_THROW(engine->step(), SimulationError);
  EXPECT_EQ(engine->state().frame, 1);
  EXPECT_EQ(engine->state().positions, broken.positions);
}

TEST(StepDeterminism, TheCpuGivesTheSameBitsForAnyNumberOfThreads) {
  Model model;
  add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.07, 0}, 3, 15);
  add_box(model, "upper", {0.1, 0.1, 0.1}, {0.02, 0.22, 0.01}, 3, -30);
  model.half_spaces.push_back({});
  finalize(model);
  std::vector<State> ends;
  for (const int threads : {1, 2, 5}) {
    const auto engine = make_engine(Backend::cpu, threads);
    engine->load(model);
    for (int i = 0; i < 30; ++i) engine->step();
    ends.push_back(engine->state());
  }
  for (const State& end : ends) {
    EXPECT_EQ(end.positions, ends[0].positions);
    EXPECT_EQ(end.velocities, ends[0].velocities);
  }
}

INSTANTIATE_ON_BACKENDS(Step);

}  // namespace
}  // namespace stickslip
