// Bodies at rest within d_hat of each other are not thrown, however small the time step.
#include <algorithm>
#include <cmath>

#include "tests/fixtures/box_model.h"
#include "tests/step/barrier_bodies_fixture.h"

namespace stickslip {
namespace {

class SmallSteps : public fixtures::BarrierBodiesTest {
 protected:
  SmallSteps() { params.newton_tolerance = Params{}.newton_tolerance; }
  /// A rigid box and a soft one on the floor.
  void load_boxes(double soft_height) {
    Model model;
    fixtures::add_floor(model);
    fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({0, 0.1, 0}));
    fixtures::add_box(model, "soft", {0.2, 0.2, 0.2}, {0.5, 0.1 + soft_height, 0}, 2);
    load(model);
  }
  /// [m] The heights of both.
  Vec<double, 2> heights() {
    const State state = engine->state();
    double sum = 0;
    for (const auto& x : state.positions) sum += x[1];
    return {state.bodies[0].pose.x[1], sum / static_cast<double>(state.positions.size())};
  }
};

TEST_P(SmallSteps, BodiesWithinTheBarrierAreNotThrown) {
  for (const double dt : {1e-4, 1e-3, 1e-2}) {
    params.dt = dt;
    load_boxes(0.4 * params.d_hat);
    const auto start = heights();
    double highest[2] = {-1, -1};
    for (int i = 0; i < 60; ++i) {
      EXPECT_TRUE(step().converged);
      for (int b = 0; b < 2; ++b) highest[b] = std::max(highest[b], heights()[b] - start[b]);
    }
    for (const double rise : highest) EXPECT_LT(rise, params.d_hat) << dt;
  }
}

TEST_P(SmallSteps, AChangeOfDtWhileBodiesRestDoesNotThrowThem) {
  params.dt = 1.0 / 60;
  load_boxes(0.4 * params.d_hat);
  for (int i = 0; i < 60; ++i) step();
  const auto before = heights();
  params.dt = 2e-4;
  engine->set_params(params);
  double highest[2] = {-1, -1};
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(step().converged);
    for (int b = 0; b < 2; ++b) highest[b] = std::max(highest[b], heights()[b] - before[b]);
  }
  for (const double rise : highest) EXPECT_LT(rise, 0.1 * params.d_hat);
}

/// Nor by the stiffness of a solid: a box of 1 GPa above the floor.
TEST_P(SmallSteps, AStiffSolidIsNotThrown) {
  params.dt = 1e-3;
  Model model;
  fixtures::add_floor(model);
  fixtures::add_box(model, "stiff", {0.1, 0.1, 0.1}, {0, 0.05 + 0.1 * params.d_hat, 0}, 2);
  model.materials[0].young = 1e9;
  load(model);
  double highest = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(engine->step().converged);
    const State state = engine->state();
    for (std::size_t n = 0; n < model.positions.size(); ++n)
      highest = std::max(highest, state.positions[n][1] - model.positions[n][1]);
  }
  EXPECT_LT(highest, 5 * params.d_hat);
}

/// A sigma that rises from step to step would lift bodies slowly.
TEST_P(SmallSteps, BodiesAtRestDoNotCreepUp) {
  params.dt = 1.0 / 60;
  load_boxes(0.4 * params.d_hat);
  StepReport report;
  for (int i = 0; i < 60; ++i) report = step();
  const auto before = heights();
  const double stiffness = report.barrier_stiffness;
  params.dt = 5e-4;
  engine->set_params(params);
  double energy = 0;
  for (int i = 0; i < 600; ++i) energy += (report = step()).judgement->energy_change;
  for (int b = 0; b < 2; ++b) EXPECT_LT(heights()[b] - before[b], 0.02 * params.d_hat);
  if (params.solver != SolverKind::ccd_al) {  // whose penalty is that of a node's inertia
    EXPECT_LT(report.barrier_stiffness, 1.2 * stiffness);
  }
  EXPECT_LT(energy, 1e-4 * 8 * 9.81 * params.d_hat);  // of lifting a box of 8 kg by d_hat
}

/// A light box fixed to the world carries a box of 160 times its mass. An error of a joint over dt is a
/// speed.
TEST_P(SmallSteps, AClampedStructureRests) {
  params.dt = 2e-4;
  Model model;
  fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0, 1, 0}));
  fixtures::add_rigid_box(model, {0.2, 0.2, 0.2}, fixtures::pose_at({0.26, 1, 0}));
  for (const std::int32_t b : {-1, 1}) {
    Joint joint;
    joint.kind = JointKind::fixed;
    joint.a = 0;
    joint.b = b;
    const Pose frame = fixtures::pose_at({0, 1, 0});
    add_joint(model, joint, frame, frame);
  }
  model.materials.push_back(model.materials[0]);
  model.material_names.emplace_back("light");
  model.materials[1].density = 0.4 * model.materials[0].density;
  model.objects[0].material = 1;
  load(model);
  StepReport report;
  for (int i = 0; i < 60; ++i) report = step();
  EXPECT_LT(report.kinetic_energy, 1e-4);
}

INSTANTIATE_ON_BARRIERS(SmallSteps);

}  // namespace
}  // namespace stickslip
