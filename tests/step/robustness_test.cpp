// Invariants of every scene: no intersection, no infinite or NaN value, no inverted element of an energy that
// forbids inversion. Tested with degenerate geometry, extreme ratios, long and short steps, thin and thick
// barriers, and fast impacts.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gpu/engine.h"
#include "tests/fixtures/backend_fixture.h"
#include "tests/fixtures/box_model.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::mean;
using fixtures::Vec3d;

struct TetShape {
  std::vector<Vec3d> nodes;
  std::vector<Vec4i> tets;
};

struct Surface {
  std::vector<Vec3d> nodes;
  std::vector<Vec3i> triangles;
};

// The solids and obstacles of [Erleben18]: sharp features that touch sharp features exactly, where normals
// are undefined.

/// A square pyramid of height 1 over a unit square; its tip points down to the origin.
TetShape spike() {
  return {{{0, 0, 0}, {-0.5, 1, -0.5}, {0.5, 1, -0.5}, {0.5, 1, 0.5}, {-0.5, 1, 0.5}},
          {{0, 1, 2, 3}, {0, 1, 3, 4}}};
}

/// A triangular prism along x; its sharp edge points down to y = 0.
TetShape wedge() {
  return {{{-0.5, 0, 0}, {-0.5, 1, -0.5}, {-0.5, 1, 0.5}, {0.5, 0, 0}, {0.5, 1, -0.5}, {0.5, 1, 0.5}},
          {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}}};
}

/// A unit cube of six tets on y = 0.
TetShape cube() {
  const fixtures::BoxMesh lattice = fixtures::box_lattice({1, 1, 1}, {0, 0.5, 0}, {1, 1, 1});
  return {lattice.nodes, lattice.tets};
}

Surface surface_of(const TetShape& shape) {
  Model model;
  model.materials.resize(1);
  model.material_names = {"any"};
  add_solid(model, "any", shape.nodes, shape.tets, 0);
  return {shape.nodes, model.triangles};
}

/// Upside down, with its highest point at the height of the origin.
Surface turned_over(Surface s) {
  for (Vec3d& p : s.nodes) p = {p[0], -p[1], -p[2]};
  return s;
}

Surface quads(const std::vector<std::array<Vec3d, 4>>& faces) {
  Surface s;
  for (const auto& face : faces) {
    const int i = static_cast<int>(s.nodes.size());
    s.nodes.insert(s.nodes.end(), face.begin(), face.end());
    s.triangles.push_back({i, i + 1, i + 2});
    s.triangles.push_back({i, i + 2, i + 3});
  }
  return s;
}

Surface floor_with(double left, double right) {  // a gap between x = left and x = right
  return quads({{{{-3, 0, -3}, {-3, 0, 3}, {left, 0, 3}, {left, 0, -3}}},
                {{{right, 0, -3}, {right, 0, 3}, {3, 0, 3}, {3, 0, -3}}}});
}

Surface hole() {  // a square hole with the corners of the spike's square
  const double h = 0.3;
  return quads({{{{-3, 0, -3}, {-3, 0, 3}, {-h, 0, 3}, {-h, 0, -3}}},
                {{{h, 0, -3}, {h, 0, 3}, {3, 0, 3}, {3, 0, -3}}},
                {{{-h, 0, -3}, {-h, 0, -h}, {h, 0, -h}, {h, 0, -3}}},
                {{{-h, 0, h}, {-h, 0, 3}, {h, 0, 3}, {h, 0, h}}}});
}

Surface cliff() {  // a step; its edge lies below the middle of the falling solid
  return quads({{{{-3, 0, -3}, {-3, 0, 3}, {0, 0, 3}, {0, 0, -3}}},
                {{{0, 0, -3}, {0, 0, 3}, {0, -2, 3}, {0, -2, -3}}},
                {{{0, -2, -3}, {0, -2, 3}, {3, -2, 3}, {3, -2, -3}}}});
}

Surface many_edges() {  // a flat floor whose inner edges lie under the corners of the cube
  Surface s;
  const int n = 6;
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) s.nodes.push_back({i - 3.0 + 0.5, 0, j - 3.0 + 0.5});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int a = i * (n + 1) + j, b = a + n + 1;
      s.triangles.push_back({a, a + 1, b + 1});
      s.triangles.push_back({a, b + 1, b});
    }
  return s;
}

struct Totals {
  double volume_ratio_min = 1;
  int contacts = 0, converged = 0;
};

class LongRobustness : public fixtures::BackendTestOf<fixtures::BackendSolver> {
 protected:
  LongRobustness() {
    params.check_intersections = true;
    params.solver = GetParam().solver;
    model.material_names = {"solid", "other"};
    model.materials.resize(2);
    for (Material& material : model.materials) {
      material.model = ElasticModel::neo_hookean;
      material.poisson = 0.4;
    }
  }
  void prepare() override { engine = make_engine(backend(), 2); }

  Totals run(int steps) {
    finalize(model);
    engine->set_params(params);
    engine->load(model);
    Totals totals;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = engine->step();
      EXPECT_EQ(report.intersections, 0) << "frame " << report.frame;
      EXPECT_GT(report.volume_ratio_min, 0) << "frame " << report.frame;
      totals.volume_ratio_min = std::min(totals.volume_ratio_min, report.volume_ratio_min);
      totals.contacts = std::max(totals.contacts, report.contacts);
      totals.converged += report.converged;
      if (HasFailure()) break;
    }
    return totals;
  }

  void expect_second_material_rests_on_the_first() {
    params.dt = 0.01;
    add_box(model, "first", {1, 0.4, 1}, {0, 0.21, 0}, 4);
    add_box(model, "second", {0.5, 0.5, 0.5}, {0, 0.67, 0}, 3);
    model.objects[1].material = 1;
    model.half_spaces.push_back({{0, 1, 0}, 0, 0.3});
    const Totals totals = run(60);
    EXPECT_GE(totals.converged, 57);
  }

  std::unique_ptr<Engine> engine;
  Params params;
  Model model;
};

TEST_P(LongRobustness, SharpFeaturesFallExactlyOntoSharpFeatures) {
  const std::pair<const char*, TetShape> solids[] = {
      {"spike", spike()}, {"wedge", wedge()}, {"cube", cube()}};
  const std::pair<const char*, Surface> obstacles[] = {{"spike", turned_over(surface_of(spike()))},
                                                       {"wedge", turned_over(surface_of(wedge()))},
                                                       {"crack", floor_with(-0.05, 0.05)},
                                                       {"closed crack", floor_with(-1e-4, 1e-4)},
                                                       {"hole", hole()},
                                                       {"cliff", cliff()},
                                                       {"inner edges", many_edges()}};
  params.dt = 0.01;
  params.d_hat = 1e-3;
  const Model empty = model;
  for (const auto& [solid, shape] : solids)
    for (const auto& [obstacle, surface] : obstacles) {
      SCOPED_TRACE(std::string(solid) + " on " + obstacle);
      model = empty;
      std::vector<Vec3d> nodes = shape.nodes;
      for (Vec3d& p : nodes) p[1] += 0.05;
      add_solid(model, "faller", nodes, shape.tets, 0);
      add_collider(model, "obstacle", surface.nodes, surface.triangles, 0, {});
      model.half_spaces.push_back({{0, 1, 0}, -2.5, 0.3});
      const Totals totals = run(100);
      EXPECT_GT(totals.contacts, 0);
      EXPECT_GE(totals.converged, 95);
    }
}

TEST_P(LongRobustness, SliverElementsConverge) {
  // Random points in a box, most of them nearly in one plane: tets with a thousandth of the usual height.
  params.dt = 0.01;
  const fixtures::BoxMesh lattice = fixtures::box_lattice({1, 1, 1}, {0, 0, 0}, {4, 8, 4});
  std::vector<Vec3d> nodes = lattice.nodes;
  for (Vec3d& p : nodes) {
    const int layer = static_cast<int>(std::lround((p[1] + 0.5) * 8));
    p[1] = (layer / 2) * 0.25 + (layer % 2) * 2.5e-4;  // pairs of layers 0.25 mm apart in a body of 1 m
    p[1] += 0.01;
  }
  add_solid(model, "slivers", nodes, lattice.tets, 0);
  model.half_spaces.push_back({{0, 1, 0}, 0, 0.3});
  const Totals totals = run(60);
  EXPECT_GT(totals.contacts, 0);
  EXPECT_GE(totals.converged, 57);
}

TEST_P(LongRobustness, AStiffnessRatioOfTenThousand) {
  model.materials[0].young = 1e4;
  model.materials[1].young = 1e8;
  expect_second_material_rests_on_the_first();
}

TEST_P(LongRobustness, AMassRatioOfTenThousand) {
  model.materials[0].density = 10;
  model.materials[1].density = 1e5;
  for (Material& material : model.materials) material.young = 1e7;
  expect_second_material_rests_on_the_first();
}

TEST_P(LongRobustness, StepsOfOneToAHundredMilliseconds) {
  const Model empty = model;
  for (const double dt : {1e-3, 1e-2, 1e-1}) {
    SCOPED_TRACE(dt);
    model = empty;
    params.dt = dt;
    add_box(model, "low", {0.3, 0.3, 0.3}, {0, 0.16, 0}, 3);
    add_box(model, "high", {0.3, 0.3, 0.3}, {0.1, 0.53, 0.05}, 3, 30);
    model.half_spaces.push_back({{0, 1, 0}, 0, 0.3});
    const int steps = dt < 5e-3 ? 400 : 60;
    const Totals totals = run(steps);
    EXPECT_GT(totals.contacts, 4);
    EXPECT_GE(totals.converged, 95 * steps / 100);
  }
}

TEST_P(LongRobustness, BarriersOverThreeDecadesOfThickness) {
  const Model empty = model;
  params.dt = 0.01;
  for (const double d_hat : {1e-5, 1e-4, 1e-3, 1e-2}) {
    SCOPED_TRACE(d_hat);
    model = empty;
    params.d_hat = d_hat;
    add_box(model, "low", {0.3, 0.3, 0.3}, {0, 0.17, 0}, 3);
    add_box(model, "high", {0.3, 0.3, 0.3}, {0.1, 0.53, 0.05}, 3, 30);
    model.half_spaces.push_back({{0, 1, 0}, 0, 0.3});
    const Totals totals = run(60);
    EXPECT_GT(totals.contacts, 4);
    EXPECT_GE(totals.converged, 57);
  }
}

TEST_P(LongRobustness, ABlockOfAHundredMetersPerSecondHitsAThinSheet) {
  for (const double dt : {1e-3, 1e-2}) {
    SCOPED_TRACE(dt);
    model.objects.clear();
    Model next;
    next.material_names = model.material_names;
    next.materials = model.materials;
    model = next;
    params.dt = dt;
    params.d_hat = 5e-4;
    params.gravity = 0;
    model.materials[0].young = 1e6;
    const fixtures::BoxMesh sheet = fixtures::box_lattice({1, 2e-3, 1}, {0, 0, 0}, {12, 1, 12});
    const Object& thin = add_solid(model, "sheet", sheet.nodes, sheet.tets, 0);
    ScriptedNodes rim;
    for (int i = thin.node_begin; i < thin.node_end; ++i)
      if (std::max(std::abs(model.positions[i][0]), std::abs(model.positions[i][2])) > 0.499)
        rim.nodes.push_back(i);
    model.scripted.push_back(rim);
    add_box(model, "bullet", {0.1, 0.1, 0.1}, {0.01, 0.3, 0.02}, 2, 10, {0, -100, 0});
    const Totals totals = run(15);
    EXPECT_GT(totals.contacts, 0);
    EXPECT_GT(totals.volume_ratio_min, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, LongRobustness,
                         ::testing::Values(fixtures::BackendSolver{Backend::cpu, SolverKind::ipc},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::barrier_al},
                                           fixtures::BackendSolver{Backend::cuda, SolverKind::ipc},
                                           fixtures::BackendSolver{Backend::cuda, SolverKind::barrier_al}),
                         fixtures::ParamName{});

}  // namespace
}  // namespace stickslip
