// Contact of cloth and rods with bodies and colliders in whole steps.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using namespace fixtures;

class ThinAmongBodies : public ThinTest {};

TEST_P(ThinAmongBodies, ARodLiesOnASheetAndOnABox) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity})
    for (const bool on_box : {false, true}) {
      SCOPED_TRACE(std::string(on_box ? "box" : "sheet") + ", solver " +
                   std::to_string(static_cast<int>(solver)));
      choose(solver);
      Model model = thin_model(true);
      double top = kThickness + 2e-3;
      if (on_box) {
        add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 2);
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

// Rods behind a rigid body in the scene, and strands whose nodes are numbered backwards.
TEST_P(ThinAmongBodies, ARodRestsOnARigidBox) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity})
    for (const bool backwards : {false, true}) {
      SCOPED_TRACE("solver " + std::to_string(static_cast<int>(solver)) + (backwards ? ", backwards" : ""));
      choose(solver);
      Model model;
      add_floor(model);
      add_rigid_box(model, {0.05, 0.05, 0.05}, pose_at({0, 0.051, 0}));
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
TEST_P(ThinAmongBodies, AnEndStandsOnARod) {
  params.solver = SolverKind::velocity;
  params.check_intersections = false;
  params.contact_margin = 5e-3;
  params.contact_slop = 1e-5;
  for (const bool backwards : {false, true}) {
    Model model = thin_model();
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

// The preconditioner has parts for strands and for affine bodies.
TEST_P(ThinAmongBodies, AnAffineBoxFallsOnAHeldRod) {
  params.d_hat = 1e-3;
  for (const PreconditionerKind kind : {PreconditionerKind::block_jacobi, PreconditionerKind::factors}) {
    params.preconditioner = kind;
    Model model = thin_model(true);
    const Object& rod = add_rod(model, {0, 0, 0}, {1, 0, 0}, 0.3, 12, {0, 0, 0});
    ScriptedNodes held;
    held.nodes = {rod.node_begin,        rod.node_begin + 11,    rod.collides_from,
                  rod.collides_from + 1, rod.collides_from + 11, rod.collides_from + 12};
    model.scripted.push_back(held);
    add_box(model, "box", {0.05, 0.05, 0.05}, {0, 0.04, 0}, 1, 0, {0, -0.5, 0}, fixtures::BoxBody::affine);
    load(model);
    for (int i = 0; i < 20; ++i) {
      const StepReport report = step();
      EXPECT_LT(report.pcg_iterations, 3000) << i;
    }
  }
}

// Narrow edges between the nodes of a flat sheet carry it.
TEST_P(ThinAmongBodies, ASheetLiesOnANarrowBar) {
  params.solver = SolverKind::velocity;
  params.check_intersections = false;
  params.contact_margin = 5e-3;
  Model model = thin_model(true);
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

// Each edge of a sheet is reported once, also where it bounds one triangle and whichever way that goes round.
TEST_P(ThinAmongBodies, BallsTouchAllEdgesOfASheet) {
  params.solver = SolverKind::velocity;
  params.check_intersections = false;
  params.contact_margin = 2e-3;
  constexpr double kRadius = 0.02;
  const std::vector<Vec3d> corners{{-0.1, 0, -0.1}, {0.1, 0, -0.1}, {0.1, 0, 0.1}, {-0.1, 0, 0.1}};
  for (const bool turned : {false, true})
    for (const Vec3d& place : {Vec3d{0, 0, -0.1}, {0.1, 0, 0}, {0, 0, 0.1}, {-0.1, 0, 0}, {0, 0, 0}}) {
      Model model = thin_model(true);
      std::vector<Vec3i> triangles{{0, 1, 2}, {0, 2, 3}};
      if (turned)
        for (Vec3i& t : triangles) std::swap(t[1], t[2]);
      add_cloth(model, "sheet", corners, triangles, 0, kThickness);
      // Beside a border the ball is as high as the sheet, so that the nearest point is on the edge itself.
      const double way = kRadius + kThickness / 2 + 1e-3;
      const Vec3d outward = norm(place) > 0 ? (1 / norm(place)) * place : Vec3d{0, 1, 0};
      add_rigid_sphere(model, kRadius, place + way * outward, false);
      params.gravity = 0;
      load(model);
      EXPECT_EQ(engine->step().contacts, 1) << place[0] << ", " << place[2] << (turned ? ", turned" : "");
    }
}

INSTANTIATE_ON_BACKENDS(ThinAmongBodies);

}  // namespace
}  // namespace stickslip
