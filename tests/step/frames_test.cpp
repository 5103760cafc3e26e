// Bodies of frames through the Engine interface: beams, free flight, contact and wind.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/model/element_group.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/frame_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_frame_bar;
using fixtures::points_of_frame;
using fixtures::Vec3d;

double mass_of_frames(const Model& model, const Object& object) {
  return model.materials[static_cast<std::size_t>(object.material)].density * solid_volume(model, object);
}

/// How far values of surface nodes are from those that follow from the frames.
double farthest_from_frames(const Model& model, const Object& body, const std::vector<Vec3d>& values) {
  double most = 0;
  for (const LatticeFollower& f : followers(model, body)) {
    Vec3d x{0, 0, 0};
    for (int k = 0; k < leader_count(f.controls); ++k)
      x += f.weights[k] * values[static_cast<std::size_t>(f.controls[k])];
    most = std::max(most, norm(x - values[static_cast<std::size_t>(f.node)]));
  }
  return most;
}

/// Upward force of the floor [N].
double force_of_floor(Engine& engine) {
  Snapshot snapshot;
  engine.snapshot(snapshot);
  double sum = 0;
  for (const ContactRecord& c : snapshot.contacts)
    if (c.object_b < 0) sum += c.normal_force * c.normal[1];
  return sum;
}

/// Bars that fall crosswise onto each other and onto the floor.
Model heap_of_bars(int count) {
  Model model;
  for (int i = 0; i < count; ++i) {
    const fixtures::BoxMesh mesh = fixtures::box_lattice({0.3, 0.04, 0.05}, {0, 0, 0}, {6, 1, 1});
    std::vector<Vec3d> path = fixtures::line_of_frames({-0.15, 0, 0}, {0.15, 0, 0}, 3);
    const double c = std::cos(0.7 * i), s = std::sin(0.7 * i);
    const auto placed = [&](std::vector<Vec3d> points) {
      for (Vec3d& p : points)
        p = Vec3d{c * p[0] + s * p[2], p[1], c * p[2] - s * p[0]} + Vec3d{0, 0.03 + 0.05 * i, 0};
      return points;
    };
    if (model.materials.empty()) {
      model.materials.push_back({});
      model.material_names.push_back("default");
    }
    add_frames(model, "bar" + std::to_string(i), placed(mesh.nodes), mesh.tets, {placed(path)}, 0);
  }
  model.materials[0].young = 2e5;
  model.materials[0].mu = 0.4;
  model.half_spaces.push_back({});
  return model;
}

class Frames : public fixtures::EngineTestOf<fixtures::BackendSolver> {
 protected:
  Frames() { params.solver = GetParam().solver; }
};

TEST_P(Frames, FreeFlightKeepsMomentumAndStrainsNothing) {
  for (const TimeIntegrator integrator : {TimeIntegrator::backward_euler, TimeIntegrator::newmark}) {
    if (integrator == TimeIntegrator::newmark && params.solver == SolverKind::ccd_al) continue;
    params.time_integrator = integrator;
    params.newton_tolerance = 1e-7;
    Model model;
    const Vec3d size{0.4, 0.05, 0.08}, velocity{0.3, 1, -0.2};
    const Object bar = add_frame_bar(model, "bar", size, {0, 1, 0}, 4);
    model.materials[0].young = 1e5;
    for (Vec3d& v : model.velocities) v = velocity;
    load(model);
    const int steps = 20;
    StepReport report;
    for (int i = 0; i < steps; ++i) report = step();
    const double t = steps * params.dt, mass = 1000 * size[0] * size[1] * size[2];
    EXPECT_NEAR(report.momentum[0], mass * velocity[0], 1e-8);
    EXPECT_NEAR(report.momentum[1], mass * (velocity[1] + params.gravity * t), 1e-7);
    EXPECT_LT(report.elastic_energy, 1e-9);
    EXPECT_LT(farthest_from_frames(model, bar, engine->state().positions), 1e-12);
  }
}

/// A spinning bar has the angular momentum of its body, and keeps it but for what implicit Euler loses.
TEST_P(Frames, ASpinningBarHasTheInertiaOfItsBody) {
  params.newton_tolerance = 1e-7;
  params.gravity = 0;
  params.dt = 1e-3;
  Model model;
  const Vec3d size{0.4, 0.05, 0.08}, spin{0.5, 2, 1};
  add_frame_bar(model, "bar", size, {0, 0, 0}, 4);
  model.materials[0].young = 1e6;
  finalize(model);
  for (std::size_t i = 0; i < model.velocities.size(); ++i)
    model.velocities[i] = cross(spin, model.positions[i]);
  load(model);
  StepReport report;
  for (int i = 0; i < 10; ++i) report = step();
  const double m = 1000 * size[0] * size[1] * size[2];
  for (int c = 0; c < 3; ++c) {
    const double a = size[(c + 1) % 3], b = size[(c + 2) % 3], want = m * (a * a + b * b) / 12 * spin[c];
    EXPECT_NEAR(report.angular_momentum[c], want, 0.01 * std::abs(want)) << c;
  }
  EXPECT_LT(norm(report.momentum), 1e-8);
}

TEST_P(Frames, AHeapOfBarsFallsWithoutIntersections) {
  params.newton_tolerance = 1e-2;
  Model model = heap_of_bars(4);
  load(model);
  const bool may_miss = params.solver == SolverKind::ccd_al;
  int converged = 0;
  StepReport report;
  for (int i = 0; i < 40; ++i) {
    report = may_miss ? step_unconverged() : step();
    converged += report.converged;
    EXPECT_EQ(report.inverted, 0);
    ASSERT_TRUE(report.judgement);
    EXPECT_LT(report.judgement->error, may_miss ? 1 : 2 * (params.d_hat / params.dt + 2 * params.eps_v));
  }
  EXPECT_GE(converged, may_miss ? 30 : 40);
  EXPECT_GT(report.contacts, 0);
  EXPECT_GT(report.gap_min, 0);
}

TEST_P(Frames, ABarAtRestHasItsWeightOnTheFloor) {
  params.dt = 0.02;
  Model model;
  const Object bar = add_frame_bar(model, "bar", {0.4, 0.05, 0.08}, {0, 0.0255, 0}, 3);
  model.materials[0].young = 1e6;
  model.materials[0].damping = 0.05;
  fixtures::add_floor(model);
  load(model);
  for (int i = 0; i < 60; ++i) step_unconverged();
  const double weight = 9.81 * mass_of_frames(model, bar);
  EXPECT_NEAR(force_of_floor(*engine), weight, 5e-3 * weight);
}

INSTANTIATE_TEST_SUITE_P(Backends, Frames,
                         ::testing::Values(fixtures::BackendSolver{Backend::cpu, SolverKind::ipc},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::barrier_al},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::ccd_al},
                                           fixtures::BackendSolver{Backend::cuda, SolverKind::ipc}),
                         fixtures::ParamName{});

class FrameBeams : public fixtures::EngineTest {
 protected:
  /// The deflection [m] of the end of a bar of 1 m by 0.1 m by 0.1 m under its weight, and of Timoshenko's
  /// beam.
  double deflection(Model& model, double poisson, std::vector<std::int32_t> held) {
    Material& m = model.materials[0];
    m.young = young;
    m.poisson = poisson;
    m.model = ElasticModel::fixed_corotated;
    ScriptedNodes clamp;
    clamp.nodes = std::move(held);
    model.scripted.push_back(clamp);
    params.dt = 1;
    params.newton_tolerance = 1e-7;
    params.pcg_tolerance = 1e-8;
    load(model);
    for (int i = 0; i < 12; ++i) step();
    const State state = engine->state();
    double sum = 0;
    int count = 0;
    for (const std::int32_t node : model.surface_nodes)
      if (model.positions[static_cast<std::size_t>(node)][0] > 0.999) {
        sum -= state.positions[static_cast<std::size_t>(node)][1] -
               model.positions[static_cast<std::size_t>(node)][1];
        ++count;
      }
    return sum / count;
  }
  double of_frames(int bones, double poisson) {
    Model model;
    const Object bar = add_frame_bar(model, "bar", {1, h, h}, {0.5, 0, 0}, bones, {16, 2, 2});
    return deflection(model, poisson, points_of_frame(bar, 0));
  }
  static double of_beam(double poisson) {
    const double load = 1000 * 9.81 * h * h, bending = young * h * h * h * h / 12;
    const double shear = 5.0 / 6 * young / (2 * (1 + poisson)) * h * h;
    return load / (8 * bending) + load / (2 * shear);
  }

  static constexpr double h = 0.1, young = 1e9;
};

/// Constant curvature along each bone: the deflection lacks 1 / (3 n^2) of a load that grows towards the
/// clamp as its moment does, to leading order.
TEST_P(FrameBeams, BendAsBeamTheorySays) {
  const double beam = of_beam(0);
  const double error[3] = {of_frames(2, 0) / beam - 1, of_frames(4, 0) / beam - 1,
                           of_frames(8, 0) / beam - 1};
  RecordProperty("errors",
                 std::to_string(error[0]) + " " + std::to_string(error[1]) + " " + std::to_string(error[2]));
  EXPECT_LT(std::abs(error[1]), 0.35 * std::abs(error[0])) << error[0] << " " << error[1] << " " << error[2];
  EXPECT_LT(std::abs(error[2]), 0.01) << error[2];
  EXPECT_LT(error[0], 0) << "too soft";
  // 25 nodes of linear tets per section with 16 cells along: ten times the unknowns of eight bones.
  Model tets;
  fixtures::BoxMesh mesh = fixtures::box_lattice({1, h, h}, {0.5, 0, 0}, {16, 2, 2});
  tets.materials.push_back({});
  tets.material_names.push_back("default");
  add_solid(tets, "bar", mesh.nodes, mesh.tets, 0);
  std::vector<std::int32_t> held;
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    if (mesh.nodes[i][0] < 1e-9) held.push_back(static_cast<std::int32_t>(i));
  EXPECT_LT(deflection(tets, 0, held) / beam - 1, -0.2) << "linear tets lock";
}

/// With Poisson's effect a section would curve; frames keep it plane, see frames.h.
TEST_P(FrameBeams, PoissonsEffectStiffensThemByAKnownFactor) {
  const double nu = 0.3, stiffer = (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  EXPECT_NEAR(of_frames(8, nu), of_beam(nu) / stiffer, 0.02 * of_beam(nu));
}

INSTANTIATE_ON_BACKENDS(FrameBeams);

class FramesInWind : public fixtures::EngineTest {};

/// The wind pushes a thin plate as it does cloth of the same outline.
TEST_P(FramesInWind, APlateIsPushedAsClothIs) {
  params.gravity = 0;
  params.air_density = 1.2;
  params.wind_speed = 5;
  params.wind_heading = 0;
  params.newton_tolerance = 1e-6;
  Vec3d momentum[2];
  for (int k = 0; k < 2; ++k) {
    Model model;
    model.materials.push_back({});
    model.material_names.push_back("default");
    model.materials[0].young = 1e7;
    model.materials[0].density = 2000;
    const fixtures::BoxMesh mesh = fixtures::box_lattice({0.004, 0.4, 0.3}, {0, 0, 0}, {1, 4, 4});
    if (k == 0) {
      add_frames(model, "plate", mesh.nodes, mesh.tets,
                 {fixtures::line_of_frames({0, -0.2, 0}, {0, 0.2, 0}, 2)}, 0);
    } else {
      std::vector<Vec3d> nodes;
      std::vector<Vec3i> triangles;
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) nodes.push_back({0, 0.1 * i - 0.2, 0.075 * j - 0.15});
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          const int a = 5 * i + j;
          triangles.push_back({a, a + 1, a + 6});
          triangles.push_back({a, a + 6, a + 5});
        }
      add_cloth(model, "cloth", nodes, triangles, 0, 0.004);
    }
    load(model);
    momentum[k] = step().momentum;
  }
  const double force = 0.5 * 1.2 * 25 * 1.2 * 0.12;  // of the drag coefficient 1.2
  EXPECT_NEAR(momentum[1][0], force * params.dt, 0.02 * force * params.dt);
  EXPECT_NEAR(momentum[0][0], momentum[1][0], 0.03 * momentum[1][0]);
}

INSTANTIATE_ON_BACKENDS(FramesInWind);

class FrameVelocitySteps : public fixtures::SolidStepTest {};

TEST_P(FrameVelocitySteps, FreeFlightKeepsMomentumAndStrainsNothing) {
  Model model;
  const Vec3d size{0.4, 0.05, 0.08}, velocity{0.3, 1, -0.2};
  add_frame_bar(model, "bar", size, {0, 1, 0}, 4);
  for (Vec3d& v : model.velocities) v = velocity;
  model.half_spaces.push_back({{0, 1, 0}, -100, 0});
  load(model);
  const StepReport report = run(20);
  const double t = 20 * params.dt, mass = 1000 * size[0] * size[1] * size[2];
  EXPECT_NEAR(report.momentum[0], mass * velocity[0], 1e-8);
  EXPECT_NEAR(report.momentum[1], mass * (velocity[1] + params.gravity * t), 1e-8);
  EXPECT_LT(report.elastic_energy, 1e-10);
}

TEST_P(FrameVelocitySteps, BarsComeToRestOnTheFloorAndOnEachOther) {
  contact.tolerance = 1e-4;
  params.dt = 0.02;
  for (const SolidCoupling coupling :
       {SolidCoupling::rounds, SolidCoupling::factor, SolidCoupling::nodal_admm}) {
    params.coupling = coupling;
    Model model = heap_of_bars(2);
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.05;
    load(model);
    StepReport report;
    for (int i = 0; i < 60; ++i) report = engine->step();
    const double weight =
        9.81 * (mass_of_frames(model, model.objects[0]) + mass_of_frames(model, model.objects[1]));
    EXPECT_NEAR(force_of_floor(*engine), weight, 0.02 * weight) << static_cast<int>(coupling);
    EXPECT_LT(report.kinetic_energy, 1e-4);
    EXPECT_EQ(report.contact_solve->message, "") << "no other coupling takes its place";
  }
}

/// A contact between two bars has up to 48 nodes. Without friction the velocities are unique. With friction
/// these bars have several solutions, as many contacts share a section: then the judge decides.
TEST_P(FrameVelocitySteps, NodalAdmmSolvesTheProblemsOfBars) {
  Model model = heap_of_bars(3);
  model.materials[0].mu = 0;
  for (Vec3d& v : model.velocities) v = {0.2, -0.8, 0.1};
  params.coupling = SolidCoupling::factor;
  params.contact_solver = ContactSolverKind::newton_ac;
  params.admm_tolerance = 1e-11;
  params.admm_iterations = 20000;
  contact.tolerance = 1e-10;
  load(model);
  run(5);
  const State expected = engine->state();
  params.coupling = SolidCoupling::nodal_admm;
  contact.tolerance = 1e-7;
  for (const double mu : {0.0, 0.4}) {
    model.materials[0].mu = mu;
    load(model);
    const StepReport report = run(5);
    EXPECT_GT(report.contacts, 4);
    EXPECT_EQ(report.contact_solve->message, "");
    EXPECT_LT(report.contact_solve->rounds, params.admm_iterations);
    EXPECT_LT(report.contact_solve->residual, contact.tolerance);
    const State state = engine->state();
    for (std::size_t i = 0; mu == 0 && i < state.velocities.size(); ++i)
      EXPECT_LT(norm(state.velocities[i] - expected.velocities[i]), 1e-6) << i;
  }
}

/// A rigid box lands on the middle of a bar that lies on two supports.
TEST_P(FrameVelocitySteps, ARigidBoxBendsABar) {
  contact.tolerance = 1e-4;
  Model model;
  const Object bar = add_frame_bar(model, "bar", {0.6, 0.03, 0.06}, {0, 0.1, 0}, 6, {12, 1, 2});
  model.materials[0].young = 5e6;
  model.materials[0].damping = 0.05;
  ScriptedNodes ends;
  for (const int frame : {0, 6})
    for (const std::int32_t node : points_of_frame(bar, frame)) ends.nodes.push_back(node);
  model.scripted.push_back(ends);
  fixtures::add_rigid_box(model, {0.03, 0.02, 0.03}, fixtures::pose_at({0, 0.14, 0}));
  model.half_spaces.push_back({{0, 1, 0}, -1, 0.5});
  load(model);
  run(150);
  const State state = engine->state();
  const double sunk = 0.135 - state.bodies[0].pose.x[1];
  // Clamped at both ends: F L^3 / (192 E I) + q L^4 / (384 E I)
  const double bending = 5e6 * 0.06 * std::pow(0.03, 3) / 12, f = 9.81 * 1000 * 0.06 * 0.04 * 0.06;
  const double q = 9.81 * 1000 * 0.03 * 0.06;
  const double nu = model.materials[0].poisson, stiffer = (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  const double want = (f * std::pow(0.6, 3) / 192 + q * std::pow(0.6, 4) / 384) / (bending * stiffer);
  EXPECT_NEAR(sunk, want, 0.15 * want);
  EXPECT_LT(norm(state.bodies[0].velocity), 0.01);
}

INSTANTIATE_ON_BACKENDS(FrameVelocitySteps);

TEST(FrameDeterminism, TheCpuGivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<State> states;
  for (const int threads : {1, 3}) {
    Model model = heap_of_bars(3);
    finalize(model);
    const auto engine = make_engine(Backend::cpu, threads);
    engine->load(model);
    for (int i = 0; i < 8; ++i) engine->step();
    states.push_back(engine->state());
  }
  for (std::size_t i = 0; i < states[0].positions.size(); ++i)
    ASSERT_EQ(states[1].positions[i], states[0].positions[i]) << "node " << i;
}

}  // namespace
}  // namespace stickslip
