// Colliders that follow positions from files, objects that do not collide, and inverted elements.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::Vec3d;

class Sequences : public fixtures::EngineTest {};

const std::vector<Vec3d> kPlate{{-0.3, 0, -0.3}, {0.3, 0, -0.3}, {0.3, 0, 0.3}, {-0.3, 0, 0.3}};
const std::vector<Vec3i> kPlateTriangles{{0, 2, 1}, {0, 3, 2}};

/// The plate, raised and bent along its diagonal.
std::vector<Vec3d> bent(double height, double bend) {
  std::vector<Vec3d> nodes = kPlate;
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i][1] += height + (i % 2 == 0 ? bend : 0.0);
  return nodes;
}

TEST_P(Sequences, AColliderGoesFromOneOfItsPositionsToTheNextAndStaysAtTheLast) {
  params.gravity = 0;
  params.dt = 0.01;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 5, 0}, 1);
  const Object& plate = add_collider(model, "plate", kPlate, kPlateTriangles, 0, {});
  const int first = plate.node_begin;
  model.scripted.back().frames = {bent(0.01, 0.02), bent(0.05, -0.02)};
  model.scripted.back().frame_dt = 0.02;
  load(model);
  const double heights[] = {0.005, 0.01, 0.03, 0.05, 0.05}, bends[] = {0.01, 0.02, 0, -0.02, -0.02};
  for (int k = 0; k < 5; ++k) {
    step();
    const State state = engine->state();
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(state.positions[first + i][1], bent(heights[k], bends[k])[i][1], 1e-7) << k;
  }
  EXPECT_NEAR(engine->state().velocities[first][1], 0, 1e-6);
  engine->reset();
  step();
  EXPECT_NEAR(engine->state().positions[first][1], 0.015, 1e-7);
}

TEST_P(Sequences, AColliderThatBendsLiftsWhatLiesOnIt) {
  for (const auto integrator : {TimeIntegrator::backward_euler, TimeIntegrator::newmark}) {
    params.time_integrator = integrator;
    params.newmark_beta = 0.36;
    params.newmark_gamma = 0.7;
    Model model;
    add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 2);
    add_collider(model, "plate", kPlate, kPlateTriangles, 0, {});
    for (int k = 1; k <= 20; ++k)
      model.scripted.back().frames.push_back(bent(0.005 * k, k % 2 == 0 ? 0.002 : 0.0));
    model.scripted.back().frame_dt = 1.0 / 60;
    load(model);
    for (int i = 0; i < 20; ++i) step();
    const State state = engine->state();
    EXPECT_GT(fixtures::mean(state.positions, 0, 27)[1], 0.14);
  }
}

TEST_P(Sequences, OfAWrongLengthAreRefused) {
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 5, 0}, 1);
  add_collider(model, "plate", kPlate, kPlateTriangles, 0, {});
  model.scripted.back().frames = {{{0, 0, 0}}};
  model.scripted.back().frame_dt = 0.02;
  EXPECT_THROW(finalize(model), std::invalid_argument);
  model.scripted.back().frames = {kPlate};
  model.scripted.back().frame_dt = 0;
  EXPECT_THROW(finalize(model), std::invalid_argument);
  model.scripted.back().frame_dt = 1;
  EXPECT_NO_THROW(finalize(model));
}

TEST_P(Sequences, ObjectsOfOneGroupPassThroughEachOtherAndOthersDoNot) {
  params.gravity = 0;
  for (const int other : {1, 2}) {
    Model model;
    add_box(model, "left", {0.1, 0.1, 0.1}, {-0.08, 0.013, 0.007}, 1, 0, {1, 0, 0});
    model.objects.back().no_contact_group = 1;
    add_box(model, "right", {0.1, 0.1, 0.1}, {0.08, 0, 0}, 1, 0, {-1, 0, 0});
    model.objects.back().no_contact_group = other;
    load(model);
    int contacts = 0;
    for (int i = 0; i < 9; ++i) contacts += step().contacts;
    const double left = engine->state().velocities[0][0];
    if (other == 1) {
      EXPECT_EQ(contacts, 0);
      EXPECT_NEAR(left, 1, 1e-6);
    } else {
      EXPECT_GT(contacts, 0);
      EXPECT_LT(left, 0.9);
    }
  }
}

TEST_P(Sequences, ElementsThatAreInsideOutAreCounted) {
  params.gravity = 0;
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 1, 0}, 1);
  model.materials[0].model = ElasticModel::fixed_corotated;
  load(model);
  EXPECT_EQ(step().inverted, 0);
  State state = engine->state();
  for (Vec3d& p : state.positions) p[0] = -p[0];
  engine->set_state(state);
  params.newton_iterations = 1;
  params.dt = 1e-6;
  engine->set_params(params);
  const StepReport report = step_unconverged();
  EXPECT_EQ(report.inverted, static_cast<int>(model.tets.size()));
  EXPECT_LT(report.volume_ratio_min, 0);
}

INSTANTIATE_ON_BACKENDS(Sequences);

}  // namespace
}  // namespace stickslip
