// Contact of thin objects in whole steps: surfaces of cloth and rods stay half their thickness away from the
// midsurface.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "gpu/geometry/distance.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using fixtures::Vec3d;

constexpr double kThickness = 0.01;

void add_material(Model& model) {
  model.materials.push_back({});
  model.material_names.push_back("default");
}

/// A square sheet of `cells` x `cells` squares, its midsurface at height y, turned about y.
Object& add_sheet(Model& model, double y, double size, int cells, double turn, const Vec3d& velocity) {
  std::vector<Vec3d> nodes;
  const double c = std::cos(turn), s = std::sin(turn);
  for (int i = 0; i <= cells; ++i)
    for (int j = 0; j <= cells; ++j) {
      const double a = size * (double(i) / cells - 0.5), b = size * (double(j) / cells - 0.5);
      nodes.push_back({c * a + s * b, y, c * b - s * a});
    }
  std::vector<Vec3i> triangles;
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j) {
      const int k = i * (cells + 1) + j;
      triangles.push_back({k, k + 1, k + cells + 1});
      triangles.push_back({k + 1, k + cells + 2, k + cells + 1});
    }
  Object& sheet =
      add_cloth(model, "sheet" + std::to_string(model.objects.size()), nodes, triangles, 0, kThickness);
  for (std::int32_t n = sheet.node_begin; n < sheet.node_end; ++n) model.velocities[n] = velocity;
  return sheet;
}

/// The smallest distance of the midsurfaces of two objects, by brute force.
double distance_between(const Model& model, const std::vector<Vec3d>& x, const Object& a, const Object& b) {
  double least = 1e300;
  const auto at = [&](std::int32_t n) { return x[static_cast<std::size_t>(n)]; };
  const auto points = [&](const Object& of, const Object& faces) {
    for (std::int32_t n = of.node_begin; n < of.node_end; ++n)
      for (std::int32_t t = faces.triangle_begin; t < faces.triangle_end; ++t) {
        const Vec3i& face = model.triangles[static_cast<std::size_t>(t)];
        least = std::min(least, point_triangle_d2(at(n), at(face[0]), at(face[1]), at(face[2])));
      }
  };
  points(a, b);
  points(b, a);
  const auto inside = [](const Object& o, const Vec2i& e) {
    return o.node_begin <= e[0] && e[0] < o.node_end;
  };
  for (const Vec2i& p : model.edges)
    for (const Vec2i& q : model.edges)
      if (inside(a, p) && inside(b, q))
        least = std::min(least, edge_edge_d2(at(p[0]), at(p[1]), at(q[0]), at(q[1])));
  return std::sqrt(least);
}

/// A straight rod of `segments` segments with its middle at `middle`, along `direction` of length `length`.
Object& add_rod(Model& model, const Vec3d& middle, const Vec3d& direction, double length, int segments,
                const Vec3d& velocity) {
  std::vector<Vec3d> nodes;
  std::vector<Vec2i> chain;
  for (int i = 0; i <= segments; ++i)
    nodes.push_back(middle + (length * (double(i) / segments - 0.5)) * direction);
  for (int i = 0; i < segments; ++i) chain.push_back({i, i + 1});
  Object& rod = add_rods(model, "rod" + std::to_string(model.objects.size()), nodes, chain, 0, kThickness);
  for (std::int32_t n = rod.node_begin; n < rod.node_end; ++n) model.velocities[n] = velocity;
  return rod;
}

/// The smallest distance of the centrelines of two rods, or of a rod to itself between segments that are no
/// neighbours.
double rod_distance(const Model& model, const std::vector<Vec3d>& x, const Object& a, const Object& b) {
  double least = 1e300;
  const auto at = [&](std::int32_t n) { return x[static_cast<std::size_t>(n)]; };
  for (std::int32_t s = a.segment_begin; s < a.segment_end; ++s)
    for (std::int32_t t = b.segment_begin; t < b.segment_end; ++t) {
      const Vec2i &p = model.segments[static_cast<std::size_t>(s)],
                  &q = model.segments[static_cast<std::size_t>(t)];
      if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0]) continue;
      least = std::min(least, edge_edge_d2(at(p[0]), at(p[1]), at(q[0]), at(q[1])));
    }
  return std::sqrt(least);
}

class ThinContact : public fixtures::EngineTest {
 protected:
  std::vector<Vec3d> positions() { return engine->state().positions; }
};

TEST_P(ThinContact, SheetsInAStackRestAThicknessApart) {
  params.d_hat = 1e-3;
  Model model;
  add_material(model);
  add_sheet(model, kThickness / 2 + 2e-3, 0.4, 3, 0, {0, 0, 0});
  add_sheet(model, 1.5 * kThickness + 4e-3, 0.3, 2, 0.4, {0, 0, 0});
  model.half_spaces.push_back({});
  load(model);
  for (int i = 0; i < 60; ++i) {
    const StepReport report = step();
    EXPECT_TRUE(report.converged) << i;
    const std::vector<Vec3d> x = positions();
    EXPECT_GT(distance_between(model, x, model.objects[0], model.objects[1]), kThickness) << i;
    for (const std::int32_t n : model.surface_nodes)
      EXPECT_GT(x[static_cast<std::size_t>(n)][1], kThickness / 2);
  }
  const std::vector<Vec3d> x = positions();
  EXPECT_LT(distance_between(model, x, model.objects[0], model.objects[1]), kThickness + params.d_hat);
  for (std::int32_t n = 0; n < model.objects[0].node_end; ++n)
    EXPECT_LT(x[static_cast<std::size_t>(n)][1], kThickness / 2 + params.d_hat);
  // The ground carries both.
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double force = 0;
  for (const ContactRecord& contact : snapshot.contacts)
    if (contact.object_b < 0) {
      force += contact.normal_force * contact.normal[1];
      EXPECT_LT(contact.point[1], params.d_hat);  // halfway between the surface and the ground
      EXPECT_GT(contact.point[1], 0);
    }
  EXPECT_NEAR(force, 9.81 * 1000 * kThickness * (0.4 * 0.4 + 0.3 * 0.3), 0.1);
}

TEST_P(ThinContact, SheetsRestAThicknessApartAtVelocityLevel) {
  params.solver = SolverKind::velocity;
  params.contact_margin = 2e-3;
  params.contact_slop = 1e-5;
  Model model;
  add_material(model);
  add_sheet(model, kThickness / 2 + 2e-3, 0.4, 3, 0, {0, 0, 0});
  add_sheet(model, 1.5 * kThickness + 4e-3, 0.3, 2, 0.4, {0.1, 0, 0});
  // The orientations of its triangles are no sides: turned over.
  for (std::int32_t t = model.objects[1].triangle_begin; t < model.objects[1].triangle_end; t += 1)
    std::swap(model.triangles[t][0], model.triangles[t][1]);
  model.half_spaces.push_back({});
  load(model);
  StepReport report;
  for (int i = 0; i < 60; ++i) {
    report = engine->step();
    EXPECT_TRUE(report.converged) << report.stop_reason;
    const std::vector<Vec3d> x = positions();
    EXPECT_GT(distance_between(model, x, model.objects[0], model.objects[1]), kThickness - 1e-4) << i;
    for (const std::int32_t n : model.surface_nodes)
      EXPECT_GT(x[static_cast<std::size_t>(n)][1], kThickness / 2 - 1e-4) << i;
  }
  const std::vector<Vec3d> x = positions();
  EXPECT_LT(distance_between(model, x, model.objects[0], model.objects[1]), kThickness + 1e-4);
  for (std::int32_t n = 0; n < model.objects[0].node_end; ++n)
    EXPECT_NEAR(x[static_cast<std::size_t>(n)][1], kThickness / 2, 1e-4);
}

TEST_P(ThinContact, FastSheetsDoNotPassThroughEachOther) {
  params.gravity = 0;
  params.d_hat = 1e-3;
  for (const CcdMethod method : {CcdMethod::additive, CcdMethod::cubic}) {
    params.ccd = method;
    Model model;
    add_material(model);
    model.materials[0].mu = 0;
    add_sheet(model, 0, 0.4, 2, 0, {0, 0, 0});
    add_sheet(model, 0.05, 0.3, 2, 0.4, {0, -20, 0});  // four thicknesses a step
    load(model);
    for (int i = 0; i < 4; ++i) {
      step();
      EXPECT_GT(distance_between(model, positions(), model.objects[0], model.objects[1]), kThickness) << i;
    }
  }
}

TEST_P(ThinContact, SheetsThatOverlapAtTheStartAreRefused) {
  Model model;
  add_material(model);
  add_sheet(model, 0, 0.4, 2, 0, {0, 0, 0});
  add_sheet(model, 0.9 * kThickness, 0.3, 2, 0.4, {0, 0, 0});
  finalize(model);
  EXPECT_THROW(load(model), std::invalid_argument);
}

struct Crossing {
  const char* name;
  double angle;  // between the rods
  double shift;  // along the upper one
  int segments;
};
constexpr Crossing kCrossings[] = {{"crossed", 1.3, 0.03, 5},
                                   {"parallel, node over node", 0, 0, 5},
                                   {"parallel, node over segment", 0, 0.02, 5},
                                   {"nearly parallel", 1e-3, 0.013, 5},
                                   {"end over end", 0, 0.15, 3}};

// A rod falls on one that lies on the ground, and stays on top of it: gravity points along the plane of both.
TEST_P(ThinContact, ARodRestsOnAnotherAtAnyAngle) {
  params.admm_tolerance = 1e-7;
  params.admm_iterations = 1000;
  for (const auto& [solver, coupling] : {std::pair{SolverKind::ipc, SolidCoupling::rounds},
                                         {SolverKind::barrier_al, SolidCoupling::rounds},
                                         {SolverKind::velocity, SolidCoupling::rounds},
                                         {SolverKind::velocity, SolidCoupling::nodal_admm}})
    for (const Crossing& crossing : kCrossings) {
      SCOPED_TRACE(std::string(crossing.name) + ", solver " + std::to_string(static_cast<int>(solver)) +
                   ", coupling " + std::to_string(static_cast<int>(coupling)));
      params.solver = solver;
      params.coupling = coupling;
      params.d_hat = 1e-3;
      params.check_intersections = solver != SolverKind::velocity;
      params.contact_margin = 5e-3;
      params.contact_slop = 1e-5;
      Model model;
      add_material(model);
      model.materials[0].young = 1e7;
      model.materials[0].damping = 0.01;
      const Vec3d along{std::cos(crossing.angle), 0, std::sin(crossing.angle)};
      add_rod(model, {0, kThickness / 2 + 2e-3, 0}, {1, 0, 0}, 0.2, crossing.segments, {0, 0, 0});
      add_rod(model, Vec3d{0, 1.5 * kThickness + 4e-3, 0} + crossing.shift * along, along, 0.2,
              crossing.segments, {0, 0, 0});
      model.half_spaces.push_back({});
      load(model);
      for (int i = 0; i < 25; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
        const std::vector<Vec3d> x = positions();
        ASSERT_GT(rod_distance(model, x, model.objects[0], model.objects[1]),
                  solver == SolverKind::velocity ? 0.97 * kThickness : kThickness)
            << i;
      }
      // It lies on the lower rod, at an end or by friction: some of it is above that.
      const std::vector<Vec3d> x = positions();
      double top = 0;
      for (std::int32_t n = model.objects[1].collides_from; n < model.objects[1].node_end; ++n)
        top = std::max(top, x[static_cast<std::size_t>(n)][1]);
      EXPECT_GT(top, 1.4 * kThickness);
    }
}

TEST_P(ThinContact, FastRodsDoNotPassThroughEachOther) {
  params.gravity = 0;
  params.d_hat = 1e-3;
  params.dt = 0.005;  // a thickness a step; with more, an optimum may be on the other side
  for (const Crossing& crossing : kCrossings) {
    SCOPED_TRACE(crossing.name);
    Model model;
    add_material(model);
    model.materials[0].young = 1e6;
    const Vec3d along{std::cos(crossing.angle), 0, std::sin(crossing.angle)};
    add_rod(model, {0, 0, 0}, {1, 0, 0}, 0.2, crossing.segments, {0, 0, 0});
    add_rod(model, Vec3d{0, 0.04, 0} + crossing.shift * along, along, 0.2, crossing.segments, {0, -2, 0});
    load(model);
    double lower = 0, upper = 0;
    for (int i = 0; i < 6; ++i) {
      engine->step();
      const std::vector<Vec3d> x = positions();
      ASSERT_GT(rod_distance(model, x, model.objects[0], model.objects[1]), kThickness) << i;
    }
    // The lower one is pushed ahead.
    const State state = engine->state();
    for (const Object& rod : model.objects)
      for (std::int32_t n = rod.collides_from; n < rod.node_end; ++n)
        (rod.node_begin == 0 ? lower : upper) += state.velocities[static_cast<std::size_t>(n)][1];
    EXPECT_LT(lower, -1);
    EXPECT_GT(upper, -2.0 * (crossing.segments + 1) + 1);
  }
}

TEST_P(ThinContact, ARodLiesOnASheetAndOnABox) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity})
    for (const bool on_box : {false, true}) {
      SCOPED_TRACE(std::string(on_box ? "box" : "sheet") + ", solver " +
                   std::to_string(static_cast<int>(solver)));
      params.solver = solver;
      params.d_hat = 1e-3;
      params.check_intersections = solver != SolverKind::velocity;
      params.contact_margin = 5e-3;
      params.contact_slop = 1e-5;
      Model model;
      add_material(model);
      model.materials[0].young = 1e7;
      model.materials[0].damping = 0.01;
      double top = kThickness + 2e-3;
      if (on_box) {
        fixtures::add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 2);
        top = 0.102;
      } else {
        add_sheet(model, kThickness / 2 + 2e-3, 0.3, 4, 0.2, {0, 0, 0});
      }
      // Longer than the box: it touches edges with its segments.
      add_rod(model, {0.003, top + 2e-3 + kThickness / 2, 0.013}, {1, 0, 0}, 0.2, 5, {0, 0, 0});
      model.half_spaces.push_back({});
      load(model);
      for (int i = 0; i < 30; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
      }
      const std::vector<Vec3d> x = positions();
      const Object& rod = model.objects[1];
      const double at = 0.5 * (x[static_cast<std::size_t>(rod.collides_from + 2)][1] +
                               x[static_cast<std::size_t>(rod.collides_from + 3)][1]);
      const double expected = on_box ? 0.1 + kThickness / 2 : 1.5 * kThickness;
      EXPECT_NEAR(at, expected, 2.5e-3);
    }
}

// Velocity-level steps leave overlaps of a few micrometres to millimetres, for which a barrier is infinite.
TEST_P(ThinContact, ARunChangesItsSolverOnTheWay) {
  params.d_hat = 1e-3;
  params.check_intersections = false;
  params.contact_margin = 5e-3;
  Model model;
  add_material(model);
  model.materials[0].young = 1e7;
  model.materials[0].damping = 0.01;
  add_sheet(model, kThickness / 2 + 2e-3, 0.4, 3, 0, {0, 0, 0});
  add_sheet(model, 1.5 * kThickness + 4e-3, 0.3, 2, 0.4, {0.1, 0, 0});
  add_rod(model, {0, 2.5 * kThickness + 6e-3, 0.01}, {1, 0, 0}, 0.15, 3, {0, 0, 0});
  add_rod(model, {0, 3.5 * kThickness + 8e-3, 0}, {0, 0, 1}, 0.15, 3, {0, 0, 0});
  model.half_spaces.push_back({});
  params.solver = SolverKind::velocity;
  load(model);
  bool overlapped = false;
  for (int round = 0; round < 3; ++round)
    for (const SolverKind solver : {SolverKind::velocity, SolverKind::ipc, SolverKind::barrier_al}) {
      const State before = engine->state();
      params.solver = solver;
      engine->set_params(params);
      const State after = engine->state();
      for (std::size_t i = 0; i < before.positions.size(); ++i) {
        EXPECT_LT(norm(after.positions[i] - before.positions[i]), 2e-4);  // out of the half-space
        EXPECT_LT(norm(after.velocities[i] - before.velocities[i]), 1e-14);
      }
      for (int i = 0; i < 10; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged) << static_cast<int>(solver) << ", " << i << ": " << report.stop_reason;
      }
      const std::vector<Vec3d> x = positions();
      const double distance = distance_between(model, x, model.objects[0], model.objects[1]);
      overlapped |= distance < kThickness;
      EXPECT_GT(distance, 0.97 * kThickness);
      EXPECT_GT(rod_distance(model, x, model.objects[2], model.objects[3]), 0.97 * kThickness);
    }
  EXPECT_TRUE(overlapped);  // or the test shows nothing
}

// Rods behind a rigid body in the scene, and strands whose nodes are numbered backwards.
TEST_P(ThinContact, ARodRestsOnARigidBox) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity})
    for (const bool backwards : {false, true}) {
      SCOPED_TRACE("solver " + std::to_string(static_cast<int>(solver)) + (backwards ? ", backwards" : ""));
      params.solver = solver;
      params.d_hat = 1e-3;
      params.check_intersections = false;
      params.contact_margin = 5e-3;
      params.contact_slop = 1e-5;
      Model model;
      fixtures::add_floor(model);
      fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0, 0.051, 0}));
      model.materials[0].young = 1e7;
      model.materials[0].damping = 0.01;
      std::vector<Vec3d> nodes;
      for (int i = 0; i <= 5; ++i)
        nodes.push_back({0.04 * (backwards ? 2.5 - i : i - 2.5), 0.104 + kThickness / 2, 0});
      std::vector<Vec2i> chain;
      for (int i = 0; i < 5; ++i) chain.push_back(backwards ? Vec2i{5 - i, 4 - i} : Vec2i{i, i + 1});
      const std::size_t rods = model.objects.size();
      add_rods(model, "rod", nodes, chain, 0, kThickness);
      load(model);
      for (int i = 0; i < 30; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
      }
      const std::vector<Vec3d> x = positions();
      const auto middle = static_cast<std::size_t>(model.objects[rods].collides_from + 2);
      EXPECT_NEAR(0.5 * (x[middle][1] + x[middle + 1][1]), 0.1 + kThickness / 2, 2e-3);
    }
}

// The lowest end of an upright strand carries the whole of it, whatever its number.
TEST_P(ThinContact, AnEndStandsOnARod) {
  params.solver = SolverKind::velocity;
  params.check_intersections = false;
  params.contact_margin = 5e-3;
  params.contact_slop = 1e-5;
  for (const bool backwards : {false, true}) {
    Model model;
    add_material(model);
    model.materials[0].young = 1e8;
    add_rod(model, {0, 0, 0}, {1, 0, 0}, 0.2, 5, {0, 0, 0});
    ScriptedNodes held;
    for (std::int32_t n = 0; n < model.objects[0].node_end; ++n) held.nodes.push_back(n);
    model.scripted.push_back(held);
    std::vector<Vec3d> nodes;
    for (int i = 0; i <= 4; ++i) nodes.push_back({0, kThickness + 1e-3 + 0.02 * (backwards ? 4 - i : i), 0});
    std::vector<Vec2i> chain;
    for (int i = 0; i < 4; ++i) chain.push_back(backwards ? Vec2i{i + 1, i} : Vec2i{i, i + 1});
    add_rods(model, "upright", nodes, chain, 0, kThickness);
    load(model);
    for (int i = 0; i < 10; ++i) engine->step();
    const std::vector<Vec3d> x = positions();
    double lowest = 1;
    for (std::int32_t n = model.objects[1].collides_from; n < model.objects[1].node_end; ++n)
      lowest = std::min(lowest, x[static_cast<std::size_t>(n)][1]);
    EXPECT_NEAR(lowest, kThickness, 5e-4) << backwards;
  }
}

TEST_P(ThinContact, ASheetThatTouchesTheGroundAtTheStartIsRefused) {
  Model model;
  add_material(model);
  add_sheet(model, kThickness / 2 + 1e-14, 0.4, 2, 0, {0, 0, 0});
  model.half_spaces.push_back({});
  finalize(model);
  EXPECT_THROW(load(model), std::invalid_argument);
}

// The preconditioner has parts for strands and for affine bodies.
TEST_P(ThinContact, AnAffineBoxFallsOnAHeldRod) {
  params.d_hat = 1e-3;
  params.preconditioner = PreconditionerKind::block_jacobi;
  Model model;
  add_material(model);
  model.materials[0].young = 1e7;
  model.materials[0].damping = 0.01;
  const Object& rod = add_rod(model, {0, 0, 0}, {1, 0, 0}, 0.3, 12, {0, 0, 0});
  ScriptedNodes held;
  held.nodes = {rod.node_begin,        rod.node_begin + 11,    rod.collides_from,
                rod.collides_from + 1, rod.collides_from + 11, rod.collides_from + 12};
  model.scripted.push_back(held);
  fixtures::add_box(model, "box", {0.05, 0.05, 0.05}, {0, 0.04, 0}, 1, 0, {0, -0.5, 0},
                    fixtures::Body::affine);
  load(model);
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    EXPECT_LT(report.pcg_iterations, 3000) << i;
  }
}

// Narrow edges between the nodes of a flat sheet carry it.
TEST_P(ThinContact, ASheetLiesOnANarrowBar) {
  params.solver = SolverKind::velocity;
  params.check_intersections = false;
  params.contact_margin = 5e-3;
  Model model;
  add_material(model);
  model.materials[0].young = 1e7;
  model.materials[0].damping = 0.01;
  add_sheet(model, 0.01 + kThickness / 2 + 2e-3, 0.3, 3, 0, {0, 0, 0});
  const std::vector<Vec3d> corners{{-0.3, 0, -0.005},  {0.3, 0, -0.005},     {0.3, 0, 0.005},
                                   {-0.3, 0, 0.005},   {-0.3, 0.01, -0.005}, {0.3, 0.01, -0.005},
                                   {0.3, 0.01, 0.005}, {-0.3, 0.01, 0.005}};
  add_collider(model, "bar", corners,
               {{0, 1, 2},
                {0, 2, 3},
                {4, 6, 5},
                {4, 7, 6},
                {0, 5, 1},
                {0, 4, 5},
                {3, 2, 6},
                {3, 6, 7},
                {0, 3, 7},
                {0, 7, 4},
                {1, 5, 6},
                {1, 6, 2}},
               0, {});
  load(model);
  for (int i = 0; i < 20; ++i) engine->step();
  const std::vector<Vec3d> x = positions();
  double height = 0;
  for (std::size_t i = 0; i < 16; ++i) height += x[i][1] / 16;
  EXPECT_GT(height, 0.005);
}

INSTANTIATE_ON_BACKENDS(ThinContact);

}  // namespace
}  // namespace stickslip
