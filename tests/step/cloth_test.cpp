// Steps of cloth without contact, under all steppers.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/model/element_group.h"
#include "tests/fixtures/cloth_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr SolverKind kSolvers[] = {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al,
                                   SolverKind::velocity};

/// A strip in the plane z = 0 that is `length` long along x, its nodes placed by `place`.
template <class Place>
Model strip(const Material& material, double length, double thickness, Place place) {
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::equilateral, length, length / 4, 16, 4);
  for (Vec3d& p : mesh.nodes) p = place(p);
  Model model;
  model.materials.push_back(material);
  model.material_names.push_back("cloth");
  add_cloth(model, "strip", mesh.nodes, mesh.triangles, 0, thickness);
  return model;
}

/// Holds the nodes up to `reach` from the end of the strip.
void hold(Model& model, double reach) {
  ScriptedNodes script;
  const fixtures::SheetMesh mesh =
      fixtures::sheet_mesh(fixtures::Weave::equilateral, 1, 0.25, 16, 4);  // in units of the length
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    if (mesh.nodes[i][0] <= reach) script.nodes.push_back(static_cast<std::int32_t>(i));
  model.scripted.push_back(script);
}

class ClothSteps : public fixtures::EngineTest {
 protected:
  void advance() {
    const StepReport report = engine->step();
    EXPECT_TRUE(report.converged) << report.stop_reason;
  }
  Vec3d mean_position(const Model& model) {
    const std::vector<double> volumes = node_volumes(model, model.objects[0]);
    const std::vector<Vec3d> x = engine->state().positions;
    Vec3d sum{0, 0, 0};
    for (std::size_t i = 0; i < x.size(); ++i) sum += volumes[i] * x[i];
    return sum / solid_volume(model, model.objects[0]);
  }
};

// Its end sinks by density g L^2 / (2 E): force is linear in elongation, so this holds for any load.
TEST_P(ClothSteps, AHangingStripStretchesUnderItsWeight) {
  const double length = 0.4;
  Material material;
  material.young = 2e4;
  material.poisson = 0;
  material.damping = 0.05;
  for (const SolverKind solver : kSolvers) {
    Model model = strip(material, length, 1e-3, [](const Vec3d& p) { return Vec3d{p[1], -p[0], 0}; });
    model.objects[0].warp = {0, 1, 0};
    hold(model, 1e-9);
    params.solver = solver;
    params.dt = 0.02;
    load(model);
    for (int i = 0; i < 100; ++i) advance();
    double lowest = 0;
    for (const Vec3d& p : engine->state().positions) lowest = std::min(lowest, p[1]);
    const double want = material.density * 9.81 * length * length / (2 * material.young);
    EXPECT_NEAR(-lowest - length, want, 0.01 * want) << static_cast<int>(solver);
  }
}

// Internal forces have no sum, and the damping of strains does not brake the fall.
TEST_P(ClothSteps, AFreeSheetFallsAsAPoint) {
  Material material;
  material.young = 1e5;
  material.damping = 0.02;
  for (const SolverKind solver : kSolvers) {
    Model model = strip(material, 0.4, 1e-3, [](const Vec3d& p) {
      return Vec3d{p[0], p[1] * 0.8, 0.3 * p[0] * p[0] + 0.6 * p[1] * p[0]};
    });
    for (std::size_t i = 0; i < model.velocities.size(); ++i)
      model.velocities[i] = Vec3d{0.5, 1, 0} + cross(Vec3d{1, 4, 2}, model.positions[i]);
    params.solver = solver;
    params.dt = 0.01;
    load(model);
    const std::vector<double> volumes = node_volumes(model, model.objects[0]);
    Vec3d velocity{0, 0, 0};
    for (std::size_t i = 0; i < volumes.size(); ++i) velocity += volumes[i] * model.velocities[i];
    velocity = velocity / solid_volume(model, model.objects[0]);
    const Vec3d start = mean_position(model);
    const int steps = 20;
    for (int i = 0; i < steps; ++i) advance();
    const double t = steps * params.dt, fall = -9.81 * params.dt * params.dt * steps * (steps + 1) / 2;
    const Vec3d want = start + t * velocity + Vec3d{0, fall, 0};
    EXPECT_LT(norm(mean_position(model) - want), 2e-4) << static_cast<int>(solver);
  }
}

// A held strip droops, and less so where the factor on its bending stiffness is raised while it runs.
TEST_P(ClothSteps, BendingCanBeChangedWhileItRuns) {
  Material material;
  material.young = 1e6;
  material.poisson = 0.2;
  material.density = 300;
  material.damping = 0.02;
  Model model = strip(material, 0.2, 1e-3, [](const Vec3d& p) { return Vec3d{p[0], 0, p[1]}; });
  hold(model, 0.07);
  params.dt = 0.02;
  load(model);
  const auto droop = [&] {
    for (int i = 0; i < 60; ++i) advance();
    double lowest = 0;
    for (const Vec3d& p : engine->state().positions) lowest = std::min(lowest, p[1]);
    return -lowest;
  };
  const double soft = droop();
  material.bending = 1000;
  engine->set_materials({material});
  const double stiff = droop();
  EXPECT_GT(soft, 0.1);
  // The strip as a beam: q L^4 / (8 E I) = 12 density g L^4 / (8 E t^2 bending), a bit less for its width.
  const double l = 0.2 * (1 - 0.5 / 16);
  const double want = 12 * 300 * 9.81 * l * l * l * l / (8 * 1e6 * 1e-6 * 1000);
  EXPECT_NEAR(stiff / want, 1, 0.1);
}

INSTANTIATE_ON_BACKENDS(ClothSteps);

}  // namespace
}  // namespace stickslip
