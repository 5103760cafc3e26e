// Actions on nodes other than contact: scripts and forces with a time interval; also points and segments as
// colliders, and friction of pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::mean;
using fixtures::Vec3d;

class ScriptsAndForces : public fixtures::EngineTest {};

INSTANTIATE_ON_BACKENDS(ScriptsAndForces);

ScriptedNodes all_nodes(const Object& object, double begin, double end) {
  ScriptedNodes script;
  for (int i = object.node_begin; i < object.node_end; ++i) script.nodes.push_back(i);
  script.begin = begin;
  script.end = end;
  return script;
}

TEST_P(ScriptsAndForces, AScriptTakesFallingNodesWhereTheyAreAndReleasesThem) {
  params.dt = 0.01;
  Model model;
  const Object& box = add_box(model, "box", {0.1, 0.1, 0.1}, {0, 1, 0}, 1);
  ScriptedNodes grip = all_nodes(box, 0.05, 0.10);
  grip.motion.velocity = {0.5, 0, 0};
  grip.motion.start = 0.05;
  model.scripted.push_back(grip);
  load(model);
  const auto height = [&] { return mean(engine->state().positions, 0, 8)[1]; };
  for (int i = 0; i < 5; ++i) engine->step();
  const double fallen = height();
  EXPECT_NEAR(fallen, 1 - 9.81 * 1e-4 * 15, 1e-9);  // implicit Euler: g dt^2 n (n + 1) / 2
  for (int i = 0; i < 5; ++i) engine->step();
  EXPECT_NEAR(height(), fallen, 1e-12);
  EXPECT_NEAR(mean(engine->state().positions, 0, 8)[0], 0.5 * 0.05, 1e-12);
  for (int i = 0; i < 5; ++i) engine->step();
  EXPECT_NEAR(height(), fallen - 9.81 * 1e-4 * 15, 1e-9);
  EXPECT_NEAR(mean(engine->state().positions, 0, 8)[0], 0.5 * 0.10, 1e-9);  // it keeps its speed
}

TEST_P(ScriptsAndForces, ATurningGripTurnsAboutItsCenterFromWhereItBegan) {
  params.dt = 0.01;
  params.gravity = 0;
  Model model;
  const Object& box = add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0, 0}, 1, 0, {1, 0, 0});
  ScriptedNodes grip = all_nodes(box, 0.05, 1);
  grip.motion.angular_velocity = {0, 0, 2};
  grip.motion.start = 0.05;
  model.scripted.push_back(grip);
  load(model);
  for (int i = 0; i < 10; ++i) engine->step();
  // The centre has moved 5 cm when it is gripped; then it rotates about the origin.
  const Vec3d center = mean(engine->state().positions, 0, 8);
  EXPECT_NEAR(center[0], 0.05 * std::cos(0.1), 1e-9);
  EXPECT_NEAR(center[1], 0.05 * std::sin(0.1), 1e-9);
}

TEST_P(ScriptsAndForces, AForceAcceleratesItsNodesDuringItsInterval) {
  params.dt = 0.01;
  params.gravity = 0;
  Model model;
  const Object& box = add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0, 0}, 1);
  NodeForce force;
  force.nodes = all_nodes(box, 0, 1).nodes;
  force.acceleration = {0, 0, 3};
  force.begin = 0.02;
  force.end = 0.07;
  model.forces.push_back(force);
  load(model);
  for (int i = 0; i < 10; ++i) engine->step();
  EXPECT_NEAR(mean(engine->state().velocities, 0, 8)[2], 3 * 0.05, 1e-9);
}

TEST_P(ScriptsAndForces, ASecondModelHasNoScriptsAndForcesOfTheFirst) {
  params.dt = 0.01;
  Model scripted;
  const Object& box = add_box(scripted, "box", {0.1, 0.1, 0.1}, {0, 0, 0}, 1);
  scripted.scripted.push_back(all_nodes(box, 0, 1));
  NodeForce force;
  force.nodes = scripted.scripted[0].nodes;
  force.acceleration = {0, 0, 3};
  scripted.forces.push_back(force);
  load(scripted);
  engine->step();
  Model free;
  add_box(free, "larger", {0.1, 0.1, 0.1}, {0, 0, 0}, 6);
  load(free);
  for (int i = 0; i < 5; ++i) engine->step();
  const State state = engine->state();
  const Vec3d moved =
      mean(state.positions, 0, free.node_count()) - mean(free.positions, 0, free.node_count());
  EXPECT_NEAR(moved[1], -9.81 * 1e-4 * 15, 1e-9);
  EXPECT_NEAR(moved[2], 0, 1e-9);
}

TEST_P(ScriptsAndForces, NodesReleasedInsideAnObjectStopTheRunWithNames) {
  params.dt = 0.01;
  params.gravity = 0;
  const auto error_after = [&](const Vec3d& velocity, bool plane) {
    Model model;
    const Object& box = add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.2, 0}, 1);
    ScriptedNodes grip = all_nodes(box, 0, 0.05);
    grip.motion.velocity = velocity;
    model.scripted.push_back(grip);
    if (plane) model.half_spaces.push_back({});
    else add_collider(model, "wall", {{-1, 0, -1}, {-1, 0, 1}, {1.5, 0, 0}}, {{0, 1, 2}}, 0, {});
    load(model);
    try {
      for (int i = 0; i < 8; ++i) engine->step();
    } catch (const SimulationError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_after({0, 1, 0}, false), "");
  EXPECT_EQ(error_after({0, 1, 0}, true), "");
  const std::string wall = error_after({0, -4, 0}, false);
  EXPECT_NE(wall.find("lets go"), std::string::npos) << wall;
  EXPECT_NE(wall.find("'wall'"), std::string::npos) << wall;
  EXPECT_NE(error_after({0, -4, 0}, true).find("half-space 0"), std::string::npos);
}

TEST_P(ScriptsAndForces, PointsAndSegmentsStopWhatFallsOnThem) {
  params.dt = 0.01;
  params.check_intersections = true;
  Model model;
  add_box(model, "above_points", {0.1, 0.1, 0.1}, {0, 0.06, 0}, 2);
  add_box(model, "above_segments", {0.1, 0.1, 0.1}, {1, 0.06, 0}, 2);
  std::vector<Vec3d> bed;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) bed.push_back({0.02 * (i - 2) + 0.001, 0, 0.02 * (j - 2) + 0.003});
  add_point_collider(model, "points", bed, {}, 0, {});
  add_point_collider(model, "segments", {{0.97, 0, -0.1}, {0.97, 0, 0.1}, {1.03, 0, -0.1}, {1.03, 0, 0.1}},
                     {{0, 1}, {2, 3}}, 0, {});
  load(model);
  StepReport report;
  for (int i = 0; i < 40; ++i) {
    report = engine->step();
    ASSERT_EQ(report.intersections, 0) << report.frame;
  }
  const State state = engine->state();
  EXPECT_GT(mean(state.positions, 0, 27)[1], 0.04);
  EXPECT_GT(mean(state.positions, 27, 54)[1], 0.04);
  EXPECT_GT(report.contacts, 4);
}

TEST_P(ScriptsAndForces, TheFrictionOfAPairOverridesTheMean) {
  params.dt = 0.01;
  const auto slide = [&](double pair_mu) {
    Model model;
    model.material_names = {"block", "table"};
    model.materials.resize(2);
    model.materials[0].mu = 0;
    const Object& block = add_box(model, "block", {0.2, 0.1, 0.2}, {0, 0.052, 0}, 2, 0, {1, 0, 0});
    const int end = block.node_end;
    add_collider(model, "table", {{-2, 0, -2}, {-2, 0, 2}, {2.1, 0, 0}}, {{0, 1, 2}}, 1, {});
    if (pair_mu >= 0) model.pair_friction.push_back({1, 0, pair_mu});
    load(model);
    for (int i = 0; i < 20; ++i) engine->step();
    return mean(engine->state().velocities, 0, end)[0];
  };
  EXPECT_NEAR(slide(-1), 1, 1e-3);
  EXPECT_NEAR(slide(0.2), 1 - 0.2 * 9.81 * 0.2, 0.03);
}

TEST_P(ScriptsAndForces, TheFrictionOfAHalfSpaceCanBeThatOfThePair) {
  params.dt = 0.01;
  const auto slide = [&](bool of_pair) {
    Model model;
    model.material_names = {"ice"};
    model.materials.resize(1);
    model.materials[0].mu = 0;
    add_box(model, "block", {0.2, 0.1, 0.2}, {0, 0.052, 0}, 2, 0, {1, 0, 0});
    model.half_spaces.push_back({{0, 1, 0}, 0, 0.2, of_pair});
    load(model);
    for (int i = 0; i < 20; ++i) engine->step();
    return mean(engine->state().velocities, 0, model.node_count())[0];
  };
  EXPECT_NEAR(slide(false), 1, 1e-3);
  EXPECT_NEAR(slide(true), 1 - 0.2 * 9.81 * 0.2, 0.03);
}

}  // namespace
}  // namespace stickslip
