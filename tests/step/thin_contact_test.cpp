// Contact of cloth and rods with each other in whole steps: surfaces stay half their thickness away from the
// midsurface.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using namespace fixtures;

class ThinContact : public ThinTest {};

TEST_P(ThinContact, SheetsInAStackRestAThicknessApart) {
  params.d_hat = 1e-3;
  Model model = thin_model();
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

// A node beside the plate is as near to its rim as to anything of the plate, but the sheet leads on under it.
// A contact with the rim would stop the node there, and push the plate without any friction.
TEST_P(ThinContact, ASheetIsPulledFromUnderAPlateWithoutFriction) {
  choose(SolverKind::velocity);
  params.dt = 0.01;
  params.gravity = 0;
  Model model = thin_model(true);
  model.materials[0].mu = 0;
  constexpr double thickness = 1e-3, gap = 2e-4;
  std::vector<Vec3d> nodes;
  std::vector<Vec3i> triangles;
  for (int i = 0; i <= 12; ++i)
    for (int j = 0; j <= 12; ++j) nodes.push_back({0.033 * (i - 6), 0, 0.033 * (j - 6)});
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) {
      const int k = 13 * i + j;
      triangles.push_back({k, k + 1, k + 13});
      triangles.push_back({k + 1, k + 14, k + 13});
    }
  const Object sheet = add_cloth(model, "sheet", nodes, triangles, 0, thickness);
  for (std::int32_t n = sheet.node_begin; n < sheet.node_end; ++n) model.velocities[n] = {3, 0, 0};
  const Object plate = add_box(model, "plate", {0.1, 0.02, 0.1}, {0.06, 0.01 + thickness / 2 + gap, 0.008}, 2,
                               0, {0, 0, 0}, BoxBody::affine);
  load(model);
  for (int i = 0; i < 8; ++i) {
    engine->step();
    const State state = engine->state();
    EXPECT_NEAR(mean(state.velocities, plate.node_begin, plate.node_end)[0], 0, 1e-3) << i;
    EXPECT_NEAR(mean(state.velocities, sheet.node_begin, sheet.node_end)[0], 3, 1e-3) << i;
  }
}

TEST_P(ThinContact, SheetsRestAThicknessApartAtVelocityLevel) {
  params.solver = SolverKind::velocity;
  params.contact_margin = 2e-3;
  params.contact_slop = 1e-5;
  Model model = thin_model();
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

// A state of velocity-level steps, or of a file, may have surfaces that go through each other. A barrier
// would hold them there, and its steps would converge.
TEST_P(ThinContact, BarrierSolversRefuseAStateWithIntersections) {
  Model model = thin_model(false);
  add_sheet(model, 0.1, 0.4, 4, 0, {0, 0, 0});
  add_sheet(model, 0.2, 0.4, 4, 0, {0, 0, 0});
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al, SolverKind::velocity}) {
    SCOPED_TRACE(static_cast<int>(solver));
    choose(solver);
    load(model);
    engine->step();
    const State before = engine->state();
    State pierced = before;
    for (std::int32_t n = model.objects[1].node_begin; n < model.objects[1].node_end; ++n) {
      Vec3d& x = pierced.positions[static_cast<std::size_t>(n)];
      x = {0.013, 0.1 + x[0], x[2] + 0.017};  // upright, through the first sheet
    }
    if (solver == SolverKind::velocity) {
      engine->set_state(pierced);
      continue;
    }
    EXPECT_THROW(engine->set_state(pierced), std::invalid_argument);
    EXPECT_EQ(engine->state().positions, before.positions);
    EXPECT_TRUE(engine->step().converged);
    engine->set_state(before);
  }
}

// Sheets hang over each other's edges: while a sheet bends there, normals between edges leave their cones.
TEST_P(ThinContact, RandomSheetsOnEachOtherKeepTheirThickness) {
  std::mt19937 rng(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  int converged = 0;
  choose(SolverKind::velocity);
  for (int scene = 0; scene < 40; ++scene) {
    SCOPED_TRACE(scene);
    Model model = thin_model(scene % 2 == 0);
    for (int k = 0; k < 3; ++k) {
      const double size = 0.1 + 0.5 * uniform(rng);
      const int cells = 1 + static_cast<int>(5 * uniform(rng));
      const double turn = 6 * uniform(rng), x = 0.3 * (uniform(rng) - 0.5), z = 0.3 * (uniform(rng) - 0.5);
      const Object& sheet =
          add_sheet(model, (k + 0.5) * kThickness + 1e-5 * (k + 1), size, cells, turn, {0, 0, 0});
      for (std::int32_t n = sheet.node_begin; n < sheet.node_end; ++n) {
        model.positions[n] += Vec3d{x, 0, z};
        model.velocities[n][1] = 0.2 * (uniform(rng) - 0.5);
      }
    }
    model.materials[0].young = std::pow(10, 4 + 3 * uniform(rng));
    model.half_spaces.push_back({});
    load(model);
    double before[2] = {kThickness, kThickness};
    for (int i = 0; i < 30; ++i) {
      const bool counts = engine->step().converged;
      const std::vector<Vec3d> x = positions();
      for (const std::size_t k : {0, 1}) {
        const double now = distance_between(model, x, model.objects[k], model.objects[k + 1]);
        if (counts) {
          EXPECT_GT(now, std::min(kThickness, before[k]) - 2e-4) << i;
        }
        before[k] = now;
      }
      converged += counts ? 1 : 0;
    }
  }
  EXPECT_GT(converged, 1050);
}

TEST_P(ThinContact, FastSheetsDoNotPassThroughEachOther) {
  params.gravity = 0;
  params.d_hat = 1e-3;
  for (const CcdMethod method :
       {CcdMethod::additive, CcdMethod::cubic, CcdMethod::multivariate, CcdMethod::inclusion}) {
    params.ccd = method;
    Model model = thin_model();
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
  Model model = thin_model();
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
      choose(solver);
      params.coupling = coupling;
      Model model = thin_model(true);
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

// The nodes of a fibre that slides along itself over two held strings do not catch on them, nor do those of
// the strings: Coulomb's friction is all that brakes it.
TEST_P(ThinContact, AFibreSlidesOverStringsByCoulombsLaw) {
  choose(SolverKind::velocity);
  params.dt = 0.005;
  for (const double angle : {1.57, 0.6, 0.4})
    for (const int segments : {13, 30}) {
      SCOPED_TRACE(std::to_string(angle) + ", " + std::to_string(segments));
      Model model = thin_model(true);
      model.materials[0].young = 1e10;
      model.materials[0].mu = 0.1;
      for (const double x : {-0.1, 0.1}) {
        const Object& string =
            add_rod(model, {x, 0, 0}, {std::cos(angle), 0, std::sin(angle)}, 0.2, 10, {0, 0, 0});
        ScriptedNodes held;
        for (std::int32_t n = string.node_begin; n < string.node_end; ++n) held.nodes.push_back(n);
        model.scripted.push_back(held);
      }
      const Object& fibre =
          add_rod(model, {-0.03, kThickness + 2e-5, 0}, {1, 0, 0}, 0.6, segments, {0.4, 0, 0});
      const std::int32_t first = fibre.collides_from, last = fibre.node_end - 1;
      load(model);
      for (int i = 0; i < 40; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
        const State state = engine->state();
        const double speed = 0.5 * (state.velocities[static_cast<std::size_t>(first)][0] +
                                    state.velocities[static_cast<std::size_t>(last)][0]);
        EXPECT_NEAR(speed, 0.4 - 0.1 * 9.81 * params.dt * (i + 1), 0.01) << i;
      }
    }
}

TEST_P(ThinContact, FastRodsDoNotPassThroughEachOther) {
  params.gravity = 0;
  params.d_hat = 1e-3;
  params.dt = 0.005;  // a thickness a step; with more, an optimum may be on the other side
  for (const Crossing& crossing : kCrossings) {
    SCOPED_TRACE(crossing.name);
    Model model = thin_model();
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

/// Two sheets and two crossed rods above the ground, a little above each other.
Model sheets_below_rods() {
  Model model = thin_model(true);
  add_sheet(model, kThickness / 2 + 2e-3, 0.4, 3, 0, {0, 0, 0});
  add_sheet(model, 1.5 * kThickness + 4e-3, 0.3, 2, 0.4, {0.1, 0, 0});
  add_rod(model, {0, 2.5 * kThickness + 6e-3, 0.01}, {1, 0, 0}, 0.15, 3, {0, 0, 0});
  add_rod(model, {0, 3.5 * kThickness + 8e-3, 0}, {0, 0, 1}, 0.15, 3, {0, 0, 0});
  model.half_spaces.push_back({});
  return model;
}

// Velocity-level steps leave overlaps of a few micrometres to millimetres, for which a barrier is infinite.
TEST_P(ThinContact, ARunChangesItsSolverOnTheWay) {
  params.d_hat = 1e-3;
  params.check_intersections = false;
  params.contact_margin = 5e-3;
  Model model = sheets_below_rods();
  params.solver = SolverKind::velocity;
  load(model);
  bool overlapped = false;
  for (int round = 0; round < 3; ++round)
    for (const SolverKind solver :
         {SolverKind::velocity, SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al}) {
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

// Sheets and rods that lie on each other and overlap collide with less of their thickness after the change.
// It grows back within a few steps, at a small speed, and passes with the state to another engine.
TEST_P(ThinContact, ThicknessGrowsBackAfterAChangeOfSolver) {
  choose(SolverKind::velocity);
  Model model = sheets_below_rods();
  load(model);
  for (int i = 0; i < 40; ++i) engine->step();
  EXPECT_TRUE(engine->state().thickness.empty());
  choose(SolverKind::ipc);
  engine->set_params(params);
  const auto least = [&] { return std::ranges::min(engine->state().thickness); };
  double before = least();
  EXPECT_LT(before, 0.99);
  EXPECT_NE(engine->load_note().find("grows back"), std::string::npos);
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    const double now = least();
    EXPECT_GE(now, before) << i;
    EXPECT_LE(now, before + 0.02 * params.d_hat / kThickness + 1e-12) << i;
    before = now;
    if (i > 1) {
      EXPECT_LT(report.kinetic_energy, 1e-5) << i;  // 5 mm/s of 2.7 kg would be 3e-5 J
    }
    if (i != 4) continue;
    // Another engine continues as this one does.
    EXPECT_LT(now, 1);
    std::unique_ptr<Engine> other = make_engine(GetParam(), 2);
    other->set_params(params);
    other->load(model);
    other->set_state(engine->state());
    engine->set_state(engine->state());
    EXPECT_EQ(other->state().thickness, engine->state().thickness);
    step();
    other->step();
    EXPECT_EQ(other->state().thickness, engine->state().thickness);
    for (std::size_t n = 0; n < model.node_count(); ++n)
      EXPECT_EQ(other->state().positions[n], engine->state().positions[n]) << n;
    before = least();
  }
  EXPECT_EQ(before, 1);
  const std::vector<Vec3d> x = positions();
  EXPECT_GT(distance_between(model, x, model.objects[0], model.objects[1]), kThickness);
  EXPECT_GT(rod_distance(model, x, model.objects[2], model.objects[3]), kThickness);
  State wrong = engine->state();
  wrong.thickness.pop_back();
  EXPECT_THROW(engine->set_state(wrong), std::invalid_argument);
}

// Rounds stall there, and a factorisation continues.
TEST_P(ThinContact, ASoftRodThatLandsOnItsEndStaysAboveTheGround) {
  choose(SolverKind::velocity);
  for (const double tilt : {0.0, 0.05})
    for (const double dt : {0.01, 1.0 / 60}) {
      SCOPED_TRACE(std::to_string(tilt) + ", dt " + std::to_string(dt));
      params.dt = dt;
      Model model = thin_model();
      model.materials[0].young = 1e4;
      model.materials[0].damping = 0.01;
      const Vec3d up{std::sin(tilt), std::cos(tilt), 0};
      add_rod(model, {0, 0.21 + kThickness / 2, 0}, up, 0.4, 10, {0, -4, 0});
      model.half_spaces.push_back({});
      load(model);
      int factored = 0;
      for (int i = 0; i < 40; ++i) {
        const StepReport report = engine->step();
        EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
        factored += report.contact_solve->message.find("rounds stalled") != std::string::npos ? 1 : 0;
        const std::vector<Vec3d> x = positions();
        for (const std::int32_t n : model.surface_nodes)
          ASSERT_GT(x[static_cast<std::size_t>(n)][1], kThickness / 2 - 1e-4) << i;
      }
      EXPECT_GT(factored, 0);
    }
}

TEST_P(ThinContact, ASheetThatTouchesTheGroundAtTheStartIsRefused) {
  Model model = thin_model();
  add_sheet(model, kThickness / 2 + 1e-14, 0.4, 2, 0, {0, 0, 0});
  model.half_spaces.push_back({});
  finalize(model);
  EXPECT_THROW(load(model), std::invalid_argument);
}

// Single nodes of two rods are held, and moved through each other where the rods cross: there free nodes have
// next to no weight in the contact, and could push it away only with next to no limit to their velocities.
TEST_P(ThinContact, ScriptsMoveHeldNodesThroughEachOther) {
  choose(SolverKind::velocity);
  for (const double shift : {0.0, 1e-9, 1e-3}) {
    SCOPED_TRACE(shift);
    Model model = thin_model();
    model.materials[0].young = 2e7;
    for (const bool upper : {false, true}) {
      const Object& rod = add_rod(model, {upper ? shift : 0, upper ? 1.4 * kThickness : 0, upper ? shift : 0},
                                  {upper ? 0.0 : 1.0, 0, upper ? 1.0 : 0.0}, 0.4, 10, {0, 0, 0});
      ScriptedNodes held;
      for (const int k : {0, 5, 10}) held.nodes.push_back(rod.collides_from + k);
      if (upper) held.motion.velocity = {0, -0.1, 0};
      model.scripted.push_back(held);
    }
    load(model);
    for (int i = 0; i < 40; ++i) {
      const StepReport report = engine->step();
      EXPECT_TRUE(report.converged) << i << ": " << report.stop_reason;
      ASSERT_LT(report.kinetic_energy + report.elastic_energy, 0.01) << i;
    }
  }
}

INSTANTIATE_ON_BACKENDS(ThinContact);

}  // namespace
}  // namespace stickslip
