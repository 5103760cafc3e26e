// Steps of discrete elastic rods without contact, under every family of steppers, compared with mechanics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpu/model/element_group.h"
#include "gpu/model/rod.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kDiameter = 0.02, kPi = std::numbers::pi;
constexpr bool kIsDouble = sizeof(Real) == 8;

/// A rod of `count` segments along x from (0, 1, 0), which holds its first segment.
struct Cantilever {
  Model model;

  Cantilever(int count, double length, double young, double damping) {
    model.materials.push_back({});
    model.material_names.push_back("default");
    Material& m = model.materials[0];
    m.young = young;
    m.poisson = 0.25;
    m.damping = damping;
    std::vector<Vec3d> nodes;
    std::vector<Vec2i> segments;
    for (int i = 0; i <= count; ++i) nodes.push_back({length * i / count, 1, 0});
    for (int i = 0; i < count; ++i) segments.push_back({i, i + 1});
    const Object& rod = add_rods(model, "rod", nodes, segments, 0, kDiameter);
    ScriptedNodes held;
    held.nodes = {rod.node_begin, rod.collides_from, rod.collides_from + 1};
    model.scripted.push_back(held);
  }
  std::size_t tip() const { return model.node_count() - 1; }
};

class RodSteps : public fixtures::EngineTest {
 protected:
  /// Of any stepper: those at velocity level do not test for intersections.
  StepReport converged_step() {
    StepReport report = engine->step();
    EXPECT_TRUE(report.converged) << "frame " << report.frame << ": " << report.stop_reason;
    return report;
  }
};

// Small deflection under its weight: q L^4 / (8 E I), with L from the middle of the held segment.
TEST_P(RodSteps, ACantileverSinksAsBeamsDoUnderEveryStepper) {
  const int n = 20;
  const double length = 1, young = 2e9;
  const double free = length * (1 - 0.5 / n);
  const RodSection section = rod_section(kDiameter, 1);
  const double want = 1000 * 9.81 * section.area * std::pow(free, 4) / (8 * young * section.across_d1);
  for (const SolverKind solver :
       {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al, SolverKind::velocity}) {
    SCOPED_TRACE(static_cast<int>(solver));
    params.solver = solver;
    params.dt = 0.05;
    Cantilever rod(n, length, young, 0.02);
    load(rod.model);
    for (int i = 0; i < 60; ++i) converged_step();
    const State state = engine->state();
    EXPECT_NEAR(1 - state.positions[rod.tip()][1], want, (kIsDouble ? 0.01 : 0.05) * want);
    EXPECT_LT(norm(state.velocities[rod.tip()]), 1e-3);
  }
}

// A free curl that spins: no step changes its momentum or its angular momentum, and it gains no energy.
TEST_P(RodSteps, AFreeCurlKeepsItsMomentum) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity}) {
    SCOPED_TRACE(static_cast<int>(solver));
    params.solver = solver;
    params.gravity = 0;
    params.dt = 1e-3;
    params.newton_tolerance = 1e-6;
    params.pcg_tolerance = 1e-10;
    Model model;
    model.materials.push_back({});
    model.material_names.push_back("default");
    model.materials[0].young = 1e7;
    model.materials[0].damping = 1e-3;
    std::vector<Vec3d> nodes;
    std::vector<Vec2i> segments;
    for (int i = 0; i <= 40; ++i) {
      nodes.push_back({0.1 * std::cos(0.4 * i), 0.02 * i, 0.1 * std::sin(0.4 * i)});
      if (i > 0) segments.push_back({i - 1, i});
    }
    const Object& rod = add_rods(model, "curl", nodes, segments, 0, 0.01);
    for (std::int32_t i = rod.node_begin; i < rod.node_end; ++i)
      model.velocities[i] = Vec3d{0.5, 0, 0} + cross(Vec3d{0, 1, 2}, model.positions[i]);
    load(model);
    const StepReport first = engine->step();
    double energy = first.kinetic_energy + first.elastic_energy;
    for (int i = 0; i < 50; ++i) {
      const StepReport report = converged_step();
      const double tolerance = kIsDouble ? 1e-5 : 1e-2;
      EXPECT_LT(norm(report.momentum - first.momentum), tolerance * norm(first.momentum));
      EXPECT_LT(norm(report.angular_momentum - first.angular_momentum),
                10 * tolerance * norm(first.angular_momentum));
      EXPECT_LT(report.kinetic_energy + report.elastic_energy, energy * (1 + tolerance));
      energy = report.kinetic_energy + report.elastic_energy;
    }
  }
}

// Ghosts give segments the moment of inertia of their section: a rod in a narrow tube, held at one end, turns
// back and forth about its axis with the angular velocity pi / (2 L) sqrt(G / rho).
TEST_P(RodSteps, TwistOscillatesAtTheSpeedOfShearWaves) {
  if (!kIsDouble) GTEST_SKIP() << "small steps of small angles need double";
  const int n = 16;
  const double length = 1, young = 2.5e6;
  Cantilever rod(n, length, young, 0);
  params.solver = SolverKind::ipc;
  params.gravity = 0;
  params.time_integrator = TimeIntegrator::newmark;
  params.newton_tolerance = 1e-7;
  params.pcg_tolerance = 1e-9;
  const double free = length * (1 - 0.5 / n);
  const double omega = kPi / (2 * free) * std::sqrt(young / 2.5 / 1000), period = 2 * kPi / omega;
  params.dt = period / 200;
  // The first mode, as a velocity: sin(pi x / (2 L)) from the middle of the held segment.
  const Object& object = rod.model.objects[0];
  for (std::int32_t i = object.collides_from + 2; i < object.node_end; ++i)
    rod.model.scripted[0].nodes.push_back(i);
  for (int s = 1; s < n; ++s) {
    const double spin = 0.2 * omega * std::sin(kPi / 2 * (length * s / n) / free);
    const std::int32_t ghost = rod_ghost(object, object.segment_begin + s);
    rod.model.velocities[ghost] = cross(Vec3d{spin, 0, 0}, rod.model.positions[ghost] - Vec3d{0, 1, 0});
  }
  load(rod.model);
  const auto last = static_cast<std::size_t>(rod_ghost(object, object.segment_begin + n - 1));
  const auto angle = [&] {
    const Vec3d y = engine->state().positions[last];
    return std::atan2(y[2], y[1] - 1);
  };
  // Half a period after the start it passes its place at rest.
  double before = 0, crossing = 0;
  for (int i = 1; i < 150 && crossing == 0; ++i) {
    converged_step();
    const double now = angle();
    if (i > 10 && before * now <= 0) crossing = (i - 1 + before / (before - now)) * params.dt;
    before = now;
  }
  EXPECT_NEAR(crossing, period / 2, 0.02 * period);
}

/// A soft rod that falls from the horizontal and swings, over one and a half swings. One linearisation of a
/// velocity-level step, where the strand would be if it were rigid, loses little more energy than many.
TEST_P(RodSteps, ASwingLosesLittleWithOneLinearisation) {
  double left[2];
  for (const int k : {0, 1}) {
    Cantilever rod(12, 0.3, 2e5, 0);
    params.solver = SolverKind::velocity;
    params.check_intersections = false;
    params.dt = 0.01;
    params.linearisations = k == 0 ? 1 : 10;
    load(rod.model);
    double start = 0, lowest = 1e300;
    for (int i = 0; i < 80; ++i) {
      const StepReport report = converged_step();
      const double energy = report.kinetic_energy + report.elastic_energy + report.gravity_energy;
      if (i == 0) start = energy;
      lowest = std::min(lowest, report.gravity_energy);
      left[k] = (energy - lowest) / (start - lowest);
    }
  }
  EXPECT_GT(left[1], 0.3);
  EXPECT_NEAR(left[0], left[1], 0.1);
}

INSTANTIATE_ON_BACKENDS(RodSteps);

}  // namespace
}  // namespace stickslip
