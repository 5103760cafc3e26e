// newton_start = ahead: bodies go along their velocity before the first Newton iteration of a barrier step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/step/barrier_al_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::boxes;
using fixtures::pile;
using fixtures::Vec3d;

class HeadStart : public fixtures::EngineTest {
 protected:
  HeadStart() { params.solver = SolverKind::ipc; }

  /// Loads the model with this start, and steps; what the steps took is added to `iterations`.
  std::vector<Vec3d> end_of(Model model, NewtonStart start, int steps, int* iterations = nullptr) {
    params.newton_start = start;
    load(model);
    for (int i = 0; i < steps; ++i) {
      const StepReport report = step();
      if (iterations != nullptr) *iterations += report.newton_iterations;
    }
    return engine->state().positions;
  }

  static double distance(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, norm(a[i] - b[i]));
    return most;
  }

  /// Nodes of the box beyond `height`, or below it, as a script.
  static ScriptedNodes grip(const Model& model, const Object& box, double height, bool above) {
    ScriptedNodes script;
    for (int i = box.node_begin; i < box.node_end; ++i)
      if ((model.rest_positions[static_cast<std::size_t>(i)][1] > height) == above) script.nodes.push_back(i);
    return script;
  }
};

INSTANTIATE_ON_BACKENDS(HeadStart);

TEST_P(HeadStart, FreeFallNeedsOneIteration) {
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 1, 0}, 2, 20, {0.3, 0.5, -0.2});
  int ahead = 0, state = 0;
  const auto a = end_of(model, NewtonStart::ahead, 5, &ahead);
  const auto b = end_of(model, NewtonStart::state, 5, &state);
  EXPECT_LT(distance(a, b), 1e-7);
  EXPECT_EQ(ahead, 5);
  EXPECT_EQ(state, 10);
}

/// The start is no part of the law: where Newton's method ends does not depend on it.
TEST_P(HeadStart, LeadsToTheSameMinimum) {
  params.newton_tolerance = 1e-8;
  params.pcg_tolerance = 1e-8;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    params.solver = solver;
    for (const double speed : {0.0, -0.4}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(solver)) + ", " + std::to_string(speed));
      Model model;
      add_box(model, "low", {0.1, 0.1, 0.1}, {0, 0.0515, 0}, 2, 0, {0.2, 0, 0});
      add_box(model, "high", {0.1, 0.1, 0.1}, {0.013, 0.1528, 0.017}, 2, 0, {0.2, speed, 0});
      model.half_spaces.push_back({});
      // A few steps: contact makes differences grow.
      EXPECT_LT(distance(end_of(model, NewtonStart::ahead, 4), end_of(model, NewtonStart::state, 4)), 1e-7);
    }
  }
}

TEST_P(HeadStart, LetsNothingPassThrough) {
  params.newton_tolerance = 1e-3;
  for (const double dt : {1.0 / 240, 1.0 / 60, 1.0 / 15}) {
    SCOPED_TRACE(dt);
    params.dt = dt;
    end_of(pile(), NewtonStart::ahead, 30);
  }
}

/// An affine body that turns beside one that hits the ground: half of its turn is a turn, too.
TEST_P(HeadStart, BodiesTurnBesideAnImpact) {
  params.newton_tolerance = 1e-7;
  params.pcg_tolerance = 1e-9;
  Model model;
  add_box(model, "falls", {0.1, 0.1, 0.1}, {0.5, 0.06, 0}, 1, 10, {0, -1.5, 0});
  add_box(model, "turns", {0.1, 0.2, 0.1}, {0, 0.5, 0}, 1, 0, {0, 0, 0}, fixtures::BoxBody::affine);
  const Object& turning = model.objects[1];
  for (int i = turning.node_begin; i < turning.node_end; ++i) {
    const Vec3d arm = model.positions[static_cast<std::size_t>(i)] - Vec3d{0, 0.5, 0};
    model.velocities[static_cast<std::size_t>(i)] = cross(Vec3d{0, 0, 12}, arm);
  }
  model.half_spaces.push_back({});
  const auto ahead = end_of(model, NewtonStart::ahead, 5);
  EXPECT_LT(distance(ahead, end_of(model, NewtonStart::state, 5)), 1e-6);
}

/// The handle of a body whose elements must not invert moves by more than an element is long in one step.
/// With the body in motion the inner nodes come along, and no spring has to pull the handle.
TEST_P(HeadStart, ScriptsTakeTheirBodyAlong) {
  params.gravity = 0;
  params.dt = 0.02;
  params.newton_tolerance = 1e-3;
  params.pcg_tolerance = 1e-6;
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("rubber");
  model.materials[0].model = ElasticModel::neo_hookean;
  const Object& box = add_box(model, "rod", {0.1, 0.4, 0.1}, {0, 0, 0}, 4);
  ScriptedNodes top = grip(model, box, 0.15, true);
  top.motion.velocity = {0, 6.0, 0};
  model.scripted.push_back(top);
  // All of it moves like its handle, so it follows from the first step on.
  for (int i = box.node_begin; i < box.node_end; ++i)
    model.velocities[static_cast<std::size_t>(i)] = {0, 6.0, 0};
  params.newton_start = NewtonStart::ahead;
  load(model);
  int ahead = 0;
  for (int i = 0; i < 3; ++i) ahead += step().newton_iterations;
  EXPECT_EQ(ahead, 3) << "it moves as a whole: there is nothing to solve";
  params.newton_start = NewtonStart::state;
  load(model);
  EXPECT_GT(step().newton_iterations, 1);
}

/// Where scripts and bodies move together, barrier and lagged friction are still those of the state before.
TEST_P(HeadStart, ScriptsChangeNoStiffness) {
  params.dt = 0.02;
  params.newton_tolerance = 1e-7;
  params.pcg_tolerance = 1e-9;
  params.friction_update = FrictionUpdate::lagged;
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("rubber");
  model.materials[0].model = ElasticModel::neo_hookean;
  add_box(model, "rod", {0.1, 0.4, 0.1}, {0, 2, 0}, 4);
  add_box(model, "slides", {0.1, 0.1, 0.1}, {1, 0.0515, 0}, 2, 0, {0.3, 0, 0});
  model.half_spaces.push_back({});
  model.scripted.push_back(grip(model, model.objects[0], 2.15, true));
  model.scripted[0].motion.velocity = {0, 6.0, 0};
  const Object rod = model.objects[0], box = model.objects[1];
  for (int i = rod.node_begin; i < rod.node_end; ++i)
    model.velocities[static_cast<std::size_t>(i)] = {0, 6.0, 0};
  double stiffness[2];
  std::vector<Vec3d> ends[2];
  for (const NewtonStart start : {NewtonStart::ahead, NewtonStart::state}) {
    const int k = start == NewtonStart::ahead ? 0 : 1;
    ends[k] = end_of(model, start, 2);
    stiffness[k] = step().barrier_stiffness;
  }
  EXPECT_NEAR(stiffness[0], stiffness[1], 1e-6 * stiffness[1]);
  for (int i = box.node_begin; i < box.node_end; ++i)
    EXPECT_LT(norm(ends[0][static_cast<std::size_t>(i)] - ends[1][static_cast<std::size_t>(i)]), 1e-7);
}

TEST_P(HeadStart, KeepsTheLimitOfContacts) {
  params.newton_tolerance = 1e-3;
  params.contact_limit = 12;
  params.newton_start = NewtonStart::ahead;
  Model model = pile();
  load(model);
  int most = 0;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step_unconverged();
    EXPECT_FALSE(report.contact_limit_exceeded) << "step " << i;
    most = std::max(most, report.contacts);
  }
  EXPECT_LE(most, 12);
  EXPECT_GT(most, 0);
}

/// Where the first direction is already below the tolerance, a step is one iteration, and as precise as the
/// tolerance says.
TEST_P(HeadStart, KeepsTheTolerance) {
  params.newton_tolerance = 1e-2;
  Model model;
  add_box(model, "box", {0.1, 0.3, 0.1}, {0, 0.5, 0}, 3, 0, {0.5, 0, 0});
  ScriptedNodes top = grip(model, model.objects[0], 0.6, true);
  model.scripted.push_back(top);
  const Params loose = params;
  params.newton_tolerance = params.pcg_tolerance = 1e-8;
  const auto exact = end_of(model, NewtonStart::state, 12);
  params = loose;
  const double diagonal = std::sqrt(0.1 * 0.1 + 0.3 * 0.3 + 0.1 * 0.1);
  const double tolerance = params.newton_tolerance * diagonal * params.dt;
  EXPECT_LT(distance(end_of(model, NewtonStart::ahead, 12), exact), tolerance);
  EXPECT_LT(distance(end_of(model, NewtonStart::state, 12), exact), tolerance);
}

}  // namespace
}  // namespace stickslip
