// Solids in lattices through the Engine interface, compared with meshes that conform to their surface.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gpu/model/element_group.h"
#include "tests/fixtures/embedded_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_conforming_box;
using fixtures::add_embedded_box;
using fixtures::Vec3d;

class Lattices : public fixtures::EngineTestOf<fixtures::BackendSolver> {
 protected:
  Lattices() { params.solver = GetParam().solver; }
};

/// The centre of mass.
Vec3d centre(const Model& model, const Object& object, const std::vector<Vec3d>& of) {
  const std::vector<double> volumes = node_volumes(model, object);
  Vec3d sum{0, 0, 0};
  double total = 0;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    sum += volumes[i] * of[object.node_begin + i];
    total += volumes[i];
  }
  return sum / total;
}

void set_velocities(Model& model, const Object& object, const Vec3d& velocity, const Vec3d& spin) {
  const Vec3d middle = centre(model, object, model.positions);
  for (int i = object.node_begin; i < object.node_end; ++i)
    model.velocities[i] = velocity + cross(spin, model.positions[i] - middle);
}

/// How far values of surface nodes are from those that follow from the lattice.
double farthest_follower(const Model& model, const Object& solid, const std::vector<Vec3d>& values) {
  double most = 0;
  for (const LatticeFollower& f : followers(model, solid)) {
    Vec3d x{0, 0, 0};
    for (int k = 0; k < 4; ++k) x += f.weights[k] * values[f.controls[k]];
    most = std::max(most, norm(x - values[f.node]));
  }
  return most;
}

TEST_P(Lattices, ALatticeThatConformsMovesAsAPlainMeshDoes) {
  params.newton_tolerance = 1e-7;
  params.pcg_tolerance = 1e-8;
  const Vec3d size{0.2, 0.1, 0.1}, middle{0, 0.06, 0};
  Model plain, model;
  add_box(plain, "box", size, middle, 2);
  add_conforming_box(model, "box", size, middle, 2);
  std::vector<std::vector<Vec3d>> surface(2);
  std::vector<double> energy(2);
  for (int k = 0; k < 2; ++k) {
    Model& of = k == 0 ? plain : model;
    of.materials[0].young = 2e4;
    of.materials[0].mu = 0.3;
    of.half_spaces.push_back({});
    finalize(of);
    set_velocities(of, of.objects[0], {0.8, -0.5, 0}, {0, 1, -2});
    load(of);
    StepReport report;
    for (int i = 0; i < 25; ++i) report = step();
    EXPECT_GT(report.contacts, 0);
    energy[k] = report.kinetic_energy + report.elastic_energy;
    const State state = engine->state();
    for (const std::int32_t node : of.surface_nodes) surface[k].push_back(state.positions[node]);
  }
  ASSERT_EQ(surface[0].size(), surface[1].size());
  double most = 0;
  for (std::size_t i = 0; i < surface[0].size(); ++i) {
    double nearest = 1;  // the two number their nodes differently
    for (const Vec3d& p : surface[1]) nearest = std::min(nearest, norm(p - surface[0][i]));
    most = std::max(most, nearest);
  }
  EXPECT_LT(most, GetParam().solver == SolverKind::ccd_al ? 1e-4 : 1e-6);
  EXPECT_NEAR(energy[1], energy[0], 1e-3 * energy[0]);
}

TEST_P(Lattices, FreeFlightKeepsMomentumAndStrainsNothing) {
  params.newton_tolerance = 1e-7;
  Model model;
  const Vec3d size{0.2, 0.1, 0.15}, velocity{0.3, 1, -0.2};
  const Object box = add_embedded_box(model, "box", size, {0, 1, 0}, 3, 0.06);
  model.materials[0].young = 1e5;
  finalize(model);
  set_velocities(model, box, velocity, {0, 0, 0});
  load(model);
  const int steps = 30;
  StepReport report;
  for (int i = 0; i < steps; ++i) report = step();
  const double t = steps * params.dt, mass = 1000 * size[0] * size[1] * size[2];
  EXPECT_NEAR(report.momentum[0], mass * velocity[0], 1e-9);
  EXPECT_NEAR(report.momentum[1], mass * (velocity[1] + params.gravity * t), 1e-8);
  EXPECT_LT(report.elastic_energy, 1e-10);
  const Vec3d moved = centre(model, box, engine->state().positions) - Vec3d{0, 1, 0};
  EXPECT_NEAR(moved[0], velocity[0] * t, 1e-9);
  EXPECT_NEAR(moved[1], velocity[1] * t + params.gravity * params.dt * params.dt * steps * (steps + 1) / 2,
              1e-8);
  ASSERT_TRUE(report.judgement);
}

/// A tumbling box loses no more angular momentum than one of a mesh that conforms, and no momentum.
TEST_P(Lattices, TumblesAsAMeshThatConforms) {
  params.newton_tolerance = 1e-6;
  params.gravity = 0;
  params.dt = 2e-3;
  std::vector<double> left;
  for (const bool embedded : {false, true}) {
    Model model;
    const Vec3d size{0.2, 0.1, 0.15};
    const Object box = embedded ? add_embedded_box(model, "box", size, {0, 0, 0}, 3, 0.05)
                                : add_box(model, "box", size, {0, 0, 0}, 3);
    model.materials[0].young = 1e6;
    finalize(model);
    set_velocities(model, box, {0, 0, 0}, {1, 5, 2});
    load(model);
    const StepReport first = step();
    StepReport report;
    for (int i = 0; i < 50; ++i) report = step();
    EXPECT_NEAR(norm(report.momentum), 0, 1e-9);
    left.push_back(norm(report.angular_momentum) / norm(first.angular_momentum));
  }
  EXPECT_NEAR(left[1], left[0], 5e-3);
  EXPECT_GT(left[1], 0.95);
}

/// A soft box that its own weight compresses on the floor: the displacement of its top.
TEST_P(Lattices, CompressesAsAFineMeshThatConforms) {
  params.newton_tolerance = 1e-4;
  std::vector<double> sunk;
  const Vec3d size{0.2, 0.2, 0.2};
  const std::function<Object(Model&)> makers[3] = {
      [&](Model& m) {
        return add_box(m, "box", size, {0, 0.1005, 0}, 6);
      },
      [&](Model& m) {
        return add_embedded_box(m, "box", size, {0, 0.1005, 0}, 6, 0.05);
      },
      [&](Model& m) {
        return add_embedded_box(m, "box", size, {0, 0.1005, 0}, 6, 0.03);
      }};
  for (const auto& make : makers) {
    Model model;
    const Object box = make(model);
    Material& soft = model.materials[0];
    soft.young = 1e4;
    soft.poisson = 0.3;
    soft.damping = 0.05;
    soft.mu = 0;
    model.half_spaces.push_back({});
    load(model);
    for (int i = 0; i < 80; ++i) step();
    const State state = engine->state();
    double sum = 0;
    int count = 0;
    for (const std::int32_t node : model.surface_nodes)
      if (model.positions[node][1] > 0.2) {
        sum += model.positions[node][1] - state.positions[node][1];
        ++count;
      }
    sunk.push_back(sum / count);
  }
  // rho g h^2 / (2 E) = 0.0196 m in linear elasticity
  EXPECT_NEAR(sunk[0], 0.0196, 0.004);
  EXPECT_NEAR(sunk[1], sunk[0], 0.1 * sunk[0]);
  EXPECT_NEAR(sunk[2], sunk[0], 0.06 * sunk[0]);
}

TEST_P(Lattices, AHeapFallsWithoutIntersections) {
  params.newton_tolerance = 1e-2;
  Model model = fixtures::lattice_heap(6, 0.06);
  load(model);
  const bool may_miss = params.solver == SolverKind::ccd_al;
  StepReport report;
  int converged = 0;
  double error = 0;
  for (int i = 0; i < 40; ++i) {
    report = may_miss ? step_unconverged() : step();
    converged += report.converged;
    ASSERT_TRUE(report.judgement);
    error = std::max(error, report.judgement->error);
    EXPECT_EQ(report.inverted, 0);
  }
  EXPECT_GE(converged, may_miss ? 30 : 40);
  EXPECT_GT(report.contacts, 0);
  // Of smoothed contacts [m/s].
  EXPECT_LT(error, may_miss ? 1 : 2 * (params.d_hat / params.dt + 2 * params.eps_v));
}

/// Held lattice nodes, at rest and on a moving script.
TEST_P(Lattices, HeldLatticeNodesMoveTheSurfaceAsThoseOfAPlainMesh) {
  params.newton_tolerance = 1e-6;
  params.pcg_tolerance = 1e-8;
  std::vector<std::vector<Vec3d>> surface(2);
  for (int k = 0; k < 2; ++k) {
    Model model;
    const Vec3d size{0.3, 0.1, 0.1};
    const Object bar = k == 0 ? add_box(model, "bar", size, {0, 0.3, 0}, 3)
                              : add_conforming_box(model, "bar", size, {0, 0.3, 0}, 3);
    model.materials[0].young = 1e5;
    ScriptedNodes left, right;
    right.motion.velocity = {0.1, 0.2, 0};
    const int end = k == 0 ? bar.node_end : bar.collides_from;
    for (int i = bar.node_begin; i < end; ++i) {
      if (model.positions[i][0] < -0.149) left.nodes.push_back(i);
      if (model.positions[i][0] > 0.149) right.nodes.push_back(i);
    }
    model.scripted = {left, right};
    load(model);
    for (int i = 0; i < 10; ++i) step();
    const State state = engine->state();
    for (const std::int32_t node : model.surface_nodes) surface[k].push_back(state.positions[node]);
  }
  double most = 0;
  for (const Vec3d& p : surface[0]) {
    double nearest = 1;
    for (const Vec3d& q : surface[1]) nearest = std::min(nearest, norm(p - q));
    most = std::max(most, nearest);
  }
  EXPECT_LT(most, 1e-6);
}

/// A scripted lattice sets off from rest, and a soft box is in its way.
TEST_P(Lattices, TheSurfaceStaysOnAScriptedLatticeThatSomethingBlocks) {
  for (const TimeIntegrator integrator : {TimeIntegrator::backward_euler, TimeIntegrator::newmark}) {
    if (integrator == TimeIntegrator::newmark && params.solver == SolverKind::ccd_al) continue;
    params.time_integrator = integrator;
    Model model;
    const Object top = add_embedded_box(model, "top", {0.1, 0.1, 0.1}, {0, 0.18, 0}, 2, 0.05);
    const Object soft = add_box(model, "soft", {0.1, 0.1, 0.1}, {0, 0.06, 0}, 2);
    for (Material& material : model.materials) material.young = 2e4;
    model.half_spaces.push_back({});
    ScriptedNodes push;
    push.motion.velocity = {0, -0.5, 0};
    for (int i = top.node_begin; i < top.collides_from; ++i) push.nodes.push_back(i);
    model.scripted = {push};
    load(model);
    const State start = engine->state();
    for (int i = 0; i < 12; ++i) {
      step_unconverged();
      const State state = engine->state();
      EXPECT_LT(farthest_follower(model, top, state.positions), 1e-12) << i;
      EXPECT_LT(farthest_follower(model, top, state.velocities), 1e-9) << i;
    }
    const auto highest = [&](const State& of) {
      double most = 0;
      for (int i = soft.node_begin; i < soft.node_end; ++i) most = std::max(most, of.positions[i][1]);
      return most;
    };
    EXPECT_LT(highest(engine->state()), highest(start) - 0.01) << "nothing was in the way";
  }
}

TEST_P(Lattices, SurfaceNodesFollowTheirLatticeInAnySetState) {
  Model model;
  const Object box = add_embedded_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.2, 0}, 2, 0.05);
  model.half_spaces.push_back({});
  finalize(model);
  set_velocities(model, box, {0.1, 0, 0}, {1, 5, 2});
  load(model);
  const auto farthest = [&](const std::vector<Vec3d>& values) {
    return farthest_follower(model, box, values);
  };
  for (int i = 0; i < 30; ++i) step_unconverged();
  State state = engine->state();
  EXPECT_LT(farthest(state.positions), 1e-12) << "rounding adds up";
  state.positions[box.collides_from + 3] = {7, 7, 7};
  state.velocities[box.collides_from + 4] = {7, 7, 7};
  engine->set_state(state);
  EXPECT_LT(farthest(engine->state().positions), 1e-14);
  EXPECT_LT(farthest(engine->state().velocities), 1e-13);
  step_unconverged();
}

TEST(LatticeDeterminism, TheCpuGivesTheSameBitsForAnyNumberOfThreads) {
  std::vector<State> states;
  for (const int threads : {1, 2, 3}) {
    Model model;
    for (int i = 0; i < 3; ++i)
      add_embedded_box(model, "box" + std::to_string(i), {0.1, 0.1, 0.1}, {0.02 * i, 0.06 + 0.12 * i, 0}, 3,
                       0.04);
    model.half_spaces.push_back({});
    finalize(model);
    const auto engine = make_engine(Backend::cpu, threads);
    engine->load(model);
    for (int i = 0; i < 12; ++i) engine->step();
    states.push_back(engine->state());
  }
  for (const State& state : states)
    for (std::size_t i = 0; i < state.positions.size(); ++i)
      ASSERT_EQ(state.positions[i], states[0].positions[i]) << "node " << i;
}

INSTANTIATE_TEST_SUITE_P(Backends, Lattices,
                         ::testing::Values(fixtures::BackendSolver{Backend::cpu, SolverKind::ipc},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::barrier_al},
                                           fixtures::BackendSolver{Backend::cpu, SolverKind::ccd_al},
                                           fixtures::BackendSolver{Backend::cuda, SolverKind::ipc}),
                         fixtures::ParamName{});

}  // namespace
}  // namespace stickslip
