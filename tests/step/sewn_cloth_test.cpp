// Steps of cloth whose rest shape is a pattern, under all steppers and couplings.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/model/element_group.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/sewn_model.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Uv = Vec<double, 2>;

struct SewnStepper {
  SolverKind solver;
  SolidCoupling coupling = SolidCoupling::rounds;  // of velocity-level steps
};
constexpr SewnStepper kSewnSteppers[] = {{SolverKind::ipc},
                                         {SolverKind::barrier_al},
                                         {SolverKind::ccd_al},
                                         {SolverKind::velocity, SolidCoupling::rounds},
                                         {SolverKind::velocity, SolidCoupling::factor},
                                         {SolverKind::velocity, SolidCoupling::nodal_admm},
                                         {SolverKind::velocity, SolidCoupling::ica}};

Material sewn_cotton() {
  Material material;
  material.young = 1e5;
  material.poisson = 0.3;
  material.damping = 0.05;
  return material;
}

class SewnCloth : public fixtures::EngineTest {
 protected:
  /// Calls run(name) under each stepper.
  template <class Run>
  void under_all(Run run) {
    for (const SewnStepper& stepper : kSewnSteppers) {
      SCOPED_TRACE(testing::Message() << "solver " << static_cast<int>(stepper.solver) << ", coupling "
                                      << static_cast<int>(stepper.coupling));
      params.solver = stepper.solver;
      params.coupling = stepper.coupling;
      params.dt = 0.02;
      run();
    }
  }
  void advance(int steps) {
    for (int i = 0; i < steps; ++i) {
      const StepReport report = engine->step();
      EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
    }
  }
};

// Drawn too wide and too high, a free tube takes the circumference and the height of its rectangle. Bending
// widens it by about (t / r)^2 / 12 = 4e-5 of that.
TEST_P(SewnCloth, ATubeTakesTheSizeOfItsPattern) {
  const double around = 0.4, high = 0.15;
  const int nx = 16, ny = 4;
  const fixtures::SewnTube tube(around, high, nx, ny, 1.03, 1.02);
  params.gravity = 0;
  under_all([&] {
    Model model = fixtures::sewn_model(tube.mesh, tube.pattern, sewn_cotton(), 1.5e-3);
    load(model);
    advance(50);
    const std::vector<Vec3d> x = engine->state().positions;
    const auto at = [&](int i, int j) { return x[static_cast<std::size_t>(j * nx + i % nx)]; };
    for (int j = 0; j <= ny; ++j) {
      double sum = 0;
      for (int i = 0; i < nx; ++i) sum += norm(at(i + 1, j) - at(i, j));
      EXPECT_NEAR(sum / around, 1, 2e-4) << "ring " << j;
    }
    for (int i = 0; i < nx; ++i) {
      double sum = 0;
      for (int j = 0; j < ny; ++j) sum += norm(at(i, j + 1) - at(i, j));
      EXPECT_NEAR(sum / high, 1, 2e-4) << "column " << i;
    }
  });
}

// Two panels sewn side by side, drawn 2% too large.
TEST_P(SewnCloth, PanelsDrawnTooLargeContract) {
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::equilateral, 0.3, 0.2, 6, 4);
  const ClothPattern pattern = fixtures::pattern_by(mesh.triangles, [&](std::size_t t, std::size_t n) {
    double middle = 0;
    for (int c = 0; c < 3; ++c) middle += mesh.nodes[static_cast<std::size_t>(mesh.triangles[t][c])][1] / 3;
    return Uv{mesh.nodes[n][0], mesh.nodes[n][1] + (middle > 0.1 ? 7 : 0)};
  });
  for (Vec3d& p : mesh.nodes) p = 1.02 * p;
  params.gravity = 0;
  under_all([&] {
    Model model = fixtures::sewn_model(mesh, pattern, sewn_cotton(), 1e-3);
    load(model);
    advance(50);
    const std::vector<Vec3d> x = engine->state().positions;
    for (const Vec2i& e : model.edges) {
      const double want =
          norm(mesh.nodes[static_cast<std::size_t>(e[0])] - mesh.nodes[static_cast<std::size_t>(e[1])]) /
          1.02;
      EXPECT_NEAR(norm(x[static_cast<std::size_t>(e[0])] - x[static_cast<std::size_t>(e[1])]) / want, 1,
                  2e-4);
    }
  });
}

// Behind a rigid body in the scene: models of parts of the scene, and of barrier steps, have the pattern too.
TEST_P(SewnCloth, PatternsCountAmongRigidBodies) {
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::equilateral, 0.3, 0.2, 6, 4);
  const ClothPattern pattern = fixtures::pattern_as_drawn(mesh);
  for (Vec3d& p : mesh.nodes) p = 1.02 * p + Vec3d{0, 1, 0};
  params.gravity = 0;
  params.dt = 0.02;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity}) {
    params.solver = solver;
    Model model;
    fixtures::add_floor(model);
    fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0, 0.5, 0}));
    model.materials[0] = sewn_cotton();
    model.cloth_patterns.push_back(pattern);
    add_cloth(model, "cloth", mesh.nodes, mesh.triangles, 0, 1e-3).cloth_pattern = 0;
    load(model);
    advance(50);
    const std::vector<Vec3d> x = engine->state().positions;
    const auto at = [&](std::int32_t n) {
      return x[static_cast<std::size_t>(model.objects.back().node_begin + n)];
    };
    for (const Vec3i& t : mesh.triangles)
      for (int c = 0; c < 3; ++c) {
        const std::int32_t a = t[c], b = t[(c + 1) % 3];
        const double want =
            norm(mesh.nodes[static_cast<std::size_t>(a)] - mesh.nodes[static_cast<std::size_t>(b)]) / 1.02;
        EXPECT_NEAR(norm(at(a) - at(b)) / want, 1, 2e-4) << static_cast<int>(solver);
      }
  }
}

// A strip cut along the warp or across it hangs by its end: this sinks by density g L^2 / (2 E) of the
// threads that run down.
TEST_P(SewnCloth, AStripStretchesByTheThreadsItIsCutAlong) {
  const double length = 0.4;
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::equilateral, length, length / 4, 16, 4);
  Material material = sewn_cotton();
  material.young = 3e4;
  material.young_weft = 1.5e4;
  material.poisson = 0;
  ScriptedNodes held;
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    if (mesh.nodes[i][0] < 1e-9) held.nodes.push_back(static_cast<std::int32_t>(i));
  for (const bool across : {false, true}) {
    const ClothPattern pattern = fixtures::pattern_by(mesh.triangles, [&](std::size_t, std::size_t n) {
      const Vec3d& p = mesh.nodes[n];
      return across ? Uv{p[1], -p[0]} : Uv{p[0], p[1]};
    });
    fixtures::SheetMesh hanging = mesh;
    for (Vec3d& p : hanging.nodes) p = {p[1], -p[0], 0};
    under_all([&] {
      Model model = fixtures::sewn_model(hanging, pattern, material, 1e-3);
      model.scripted.push_back(held);
      finalize(model);
      load(model);
      advance(80);
      double lowest = 0;
      for (const Vec3d& p : engine->state().positions) lowest = std::min(lowest, p[1]);
      const double young = across ? material.young_weft : material.young;
      const double want = material.density * 9.81 * length * length / (2 * young);
      EXPECT_NEAR(-lowest - length, want, 0.01 * want) << (across ? "across" : "along");
    });
  }
}

INSTANTIATE_ON_BACKENDS(SewnCloth);

}  // namespace
}  // namespace stickslip
