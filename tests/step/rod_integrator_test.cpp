// Steps of rods with nodal_integrator = admm: they are those of Newton's method on the same energy, and obey
// the contact law.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gpu/model/element_group.h"
#include "tests/fixtures/solid_step_fixture.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using fixtures::thin_model;
using Vec3d = Vec<double, 3>;

/// A rod whose node i is at `place(i)`; `held`: of its first nodes, with the ghost of the first segment.
Object& add_strand(Model& model, int segments, double diameter, int held,
                   const std::function<Vec3d(int)>& place) {
  std::vector<Vec3d> nodes;
  std::vector<Vec2i> pairs;
  for (int i = 0; i <= segments; ++i) {
    nodes.push_back(place(i));
    if (i > 0) pairs.push_back({i - 1, i});
  }
  Object& rod = add_rods(model, "rod " + std::to_string(model.objects.size()), nodes, pairs, 0, diameter);
  if (held == 0) return rod;
  ScriptedNodes script;
  script.nodes.push_back(rod.node_begin);
  for (int i = 0; i < held; ++i) script.nodes.push_back(rod.collides_from + i);
  model.scripted.push_back(script);
  return rod;
}

class RodIntegrator : public fixtures::SolidStepTest {
 protected:
  RodIntegrator() {
    params.coupling = SolidCoupling::nodal_admm;
    params.nodal_integrator = NodalIntegrator::admm;
    params.admm_tolerance = 1e-8;
    params.admm_iterations = 3000;
  }
  /// States after each of `steps` steps with this integrator, newton with many linearisations.
  std::vector<State> states(Model model, NodalIntegrator integrator, int steps) {
    params.nodal_integrator = integrator;
    params.linearisations = integrator == NodalIntegrator::newton ? 60 : 1;
    load(model);
    std::vector<State> all;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = step();
      EXPECT_EQ(report.contact_solve->message, "") << i;
      EXPECT_EQ(report.contact_solve->linearisations, params.linearisations);
      EXPECT_FALSE(report.contact_solve->linearisations_diverge);
      all.push_back(engine->state());
    }
    return all;
  }
  /// Largest difference of positions of the centrelines over the largest way of a node in the steps.
  static double apart(const Model& model, const std::vector<State>& a, const std::vector<State>& b) {
    double most = 0, way = 0;
    for (std::size_t s = 0; s < a.size(); ++s)
      for (const Object& object : model.objects)
        if (object.is_rods())
          for (auto i = static_cast<std::size_t>(object.collides_from);
               i < static_cast<std::size_t>(object.node_end); ++i) {
            most = std::max(most, norm(a[s].positions[i] - b[s].positions[i]));
            way = std::max(way, norm(a[s].positions[i] - model.positions[i]));
          }
    return most / way;
  }
  void expect_newtons_steps(const Model& model, int steps, double tolerance = 1e-6) {
    if (sizeof(Real) != 8) GTEST_SKIP() << "differences this small need double";
    const std::vector<State> want = states(model, NodalIntegrator::newton, steps),
                             got = states(model, NodalIntegrator::admm, steps);
    EXPECT_LT(apart(model, want, got), tolerance);
  }
};

Model hair_model(double young = 1e9) {
  Model model = thin_model();
  model.materials[0].young = young;
  model.materials[0].density = 1300;
  model.materials[0].poisson = 0.4;
  return model;
}

TEST_P(RodIntegrator, ACantileverSinksAsByNewtonsMethod) {
  for (const double damping : {0.0, 0.02}) {
    SCOPED_TRACE(damping);
    Model model = hair_model(1e8);
    model.materials[0].damping = damping;
    add_strand(model, 20, 2e-3, 2, [](int i) { return Vec3d{0.01 * i, 0, 0}; });
    expect_newtons_steps(model, 12);
  }
}

TEST_P(RodIntegrator, AHairSwingsAsByNewtonsMethod) {
  Model model = hair_model();
  const Object& rod = add_strand(model, 24, 1e-4, 1, [](int i) { return Vec3d{0.002 * i, -0.003 * i, 0}; });
  for (std::int32_t i = rod.node_begin; i < rod.node_end; ++i)
    model.velocities[i] = {0, 0, 8 * model.positions[i][0]};
  for (const std::int32_t i : model.scripted[0].nodes) model.velocities[i] = {0, 0, 0};
  expect_newtons_steps(model, 8);
}

// Natural curvature: a helix under its weight, and one at rest without, which stays as it is.
TEST_P(RodIntegrator, AHelixHangsAsByNewtonsMethod) {
  Model model = hair_model(1e8);
  add_strand(model, 40, 1e-3, 2, [](int i) {
    return Vec3d{0.02 * std::cos(0.4 * i), -0.002 * i, 0.02 * std::sin(0.4 * i)};
  });
  expect_newtons_steps(model, 8);
  if (sizeof(Real) != 8) return;
  params.gravity = 0;
  const std::vector<State> still = states(model, NodalIntegrator::admm, 3);
  for (std::size_t i = 0; i < model.node_count(); ++i)
    EXPECT_LT(norm(still.back().positions[i] - model.positions[i]), 1e-10);
}

TEST_P(RodIntegrator, WindAndScriptedRootsActAsByNewtonsMethod) {
  params.air_density = 1.2;
  params.wind_speed = 4;
  Model model = hair_model();
  add_strand(model, 16, 2e-4, 2, [](int i) { return Vec3d{0, -0.004 * i, 0}; });
  model.scripted[0].motion.velocity = {0.3, 0, 0};
  model.scripted[0].motion.angular_velocity = {0, 0, 3};
  expect_newtons_steps(model, 8);
}

// Contacts: a strand with a pinned end falls onto a clamped one, and both onto the ground. A free strand
// could spin about its own axis, which nothing but its small inertia resists: iterations are then ten times
// as many.
TEST_P(RodIntegrator, ContactsAreThoseOfManyLinearisations) {
  if (sizeof(Real) != 8) GTEST_SKIP() << "differences this small need double";
  contact.tolerance = 1e-5;
  params.admm_tolerance = 1e-9;
  params.admm_iterations = 5000;
  Model model = hair_model(1e7);
  model.materials[0].mu = 0.3;
  model.materials[0].damping = 5e-3;
  add_strand(model, 12, 4e-3, 1, [](int i) { return Vec3d{0.01 * i - 0.06, 0.0232, 0.002}; });
  add_strand(model, 12, 4e-3, 2, [](int i) { return Vec3d{0, 0.0185, 0.01 * i - 0.06}; });
  model.half_spaces.push_back({{0, 1, 0}, 0, 0.3, false});
  const int steps = 15;
  const std::vector<State> want = states(model, NodalIntegrator::newton, steps);
  EXPECT_GT(engine->step().contacts, 0);
  const std::vector<State> got = states(model, NodalIntegrator::admm, steps);
  EXPECT_LT(apart(model, want, got), 1e-5);
}

// What weights are for: with the stretching stiffness as the weight of an edge this takes thousands.
TEST_P(RodIntegrator, AHairTakesFewIterations) {
  params.admm_tolerance = 1e-5;
  Model model = hair_model();
  add_strand(model, 24, 1e-4, 2, [](int i) { return Vec3d{0.003 * i, 0, 0}; });
  load(model);
  int most = 0;
  for (int i = 0; i < 10; ++i) most = std::max(most, step().contact_solve->rounds);
  EXPECT_LE(most, 20);
}

// Without contacts there is no residual of theirs, but the strand is not where its forces take it.
TEST_P(RodIntegrator, AStepThatRunsOutOfIterationsHasNotConverged) {
  params.admm_tolerance = 1e-9;
  params.admm_iterations = 2;
  Model model = hair_model();
  add_strand(model, 24, 1e-4, 2, [](int i) { return Vec3d{0.003 * i, 0, 0}; });
  load(model);
  const StepReport capped = engine->step();
  EXPECT_FALSE(capped.converged);
  EXPECT_TRUE(capped.contact_solve->splitting_unfinished);
  EXPECT_NE(capped.stop_reason.find("admm_tolerance"), std::string::npos) << capped.stop_reason;
  params.admm_iterations = 3000;
  engine->set_params(params);
  EXPECT_TRUE(engine->step().converged);
}

TEST_P(RodIntegrator, OtherElasticObjectsAreLeftToNewton) {
  Model model = hair_model();
  add_strand(model, 6, 2e-3, 2, [](int i) { return Vec3d{0.01 * i, 0, 0}; });
  fixtures::add_sheet(model, 0.1, 0.1, 2, 0, {0, 0, 0});
  EXPECT_FALSE(has_open_rods_alone(model));
  load(model);
  EXPECT_EQ(
      step().contact_solve->message,
      "nodal_integrator = admm takes open rods without springs, and no other elastic object: newton took "
      "its place");
}

TEST_P(RodIntegrator, ClosedRodsAreLeftToNewton) {
  Model model = hair_model();
  std::vector<Vec3d> nodes;
  std::vector<Vec2i> segments;
  for (int i = 0; i < 12; ++i) {
    nodes.push_back({0.1 * std::cos(i * 0.5236), 0, 0.1 * std::sin(i * 0.5236)});
    segments.push_back({i, (i + 1) % 12});
  }
  add_rods(model, "ring", nodes, segments, 0, 2e-3);
  EXPECT_FALSE(has_open_rods_alone(model));
}

INSTANTIATE_ON_BACKENDS(RodIntegrator);

}  // namespace
}  // namespace stickslip
