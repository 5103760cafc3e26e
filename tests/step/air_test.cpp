// Cloth and rods in the air under every family of steppers, compared with the terminal velocities of bodies
// that fall through it.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/fixtures/cloth_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kAir = 1.2, kDrag = 1.1, kSkin = 0.05, kDensity = 300, kSheet = 1e-3, kRod = 4e-3;

Material light_cloth() {
  Material m;
  m.young = 1e7;
  m.poisson = 0.2;
  m.density = kDensity;
  m.drag = kDrag;
  m.skin_drag = kSkin;
  return m;
}

/// A sheet that lies in the plane y = 0, or stands in the plane z = 0.
Model sheet_in_air(bool lies) {
  fixtures::SheetMesh mesh = fixtures::sheet_mesh(fixtures::Weave::equilateral, 0.6, 0.4, 6, 4);
  if (lies)
    for (auto& p : mesh.nodes) p = {p[0], 0, -p[1]};
  return fixtures::cloth_model(mesh, light_cloth(), kSheet);
}

Model rod_in_air(bool lies) {
  Model model;
  model.materials = {light_cloth()};
  model.material_names = {"fibre"};
  std::vector<Vec3d> nodes;
  std::vector<Vec2i> segments;
  for (int i = 0; i <= 6; ++i) nodes.push_back(lies ? Vec3d{0.1 * i, 0, 0} : Vec3d{0, -0.1 * i, 0});
  for (int i = 0; i < 6; ++i) segments.push_back({i, i + 1});
  add_rods(model, "rod", nodes, segments, 0, kRod);
  finalize(model);
  return model;
}

struct Falling {
  const char* name;
  Model model;
  double terminal;  // [m/s]
};

/// rho_air / 2 c A u^2 = m g.
std::vector<Falling> falling_bodies() {
  const double pi = std::numbers::pi, sheet = 2 * kDensity * kSheet * 9.81 / kAir,
               rod = 2 * kDensity * pi * kRod * kRod / 4 * 9.81 / kAir;
  return {{"a lying sheet", sheet_in_air(true), std::sqrt(sheet / kDrag)},
          {"a standing sheet", sheet_in_air(false), std::sqrt(sheet / kSkin)},
          {"a lying rod", rod_in_air(true), std::sqrt(rod / (kDrag * kRod))},
          {"a standing rod", rod_in_air(false), std::sqrt(rod / (kSkin * pi * kRod))}};
}

double mean_fall(const State& state) {
  double sum = 0;
  for (const Vec3d& v : state.velocities) sum -= v[1];
  return sum / static_cast<double>(state.velocities.size());
}

class AirSteps : public fixtures::EngineTest {
 protected:
  void in_air(SolverKind solver, double dt) {
    params = {};
    params.solver = solver;
    params.dt = dt;
    params.air_density = kAir;
    params.newton_tolerance = 1e-5;
  }
  StepReport converged_step() {
    StepReport report = engine->step();
    EXPECT_TRUE(report.converged) << "frame " << report.frame << ": " << report.stop_reason;
    return report;
  }
};

constexpr SolverKind kSteppersInAir[] = {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al,
                                         SolverKind::velocity};

// From rest the speed is u tanh(g t / u) with the terminal speed u; steps of backward Euler lag by half a
// step. At that speed it stays. (What falls lengthwise turns over after some time, as it should.)
TEST_P(AirSteps, BodiesReachTheirTerminalVelocity) {
  std::vector<Falling> bodies = falling_bodies();
  for (Falling& body : bodies)
    for (const SolverKind solver : kSteppersInAir) {
      SCOPED_TRACE(std::string(body.name) + ", solver " + std::to_string(static_cast<int>(solver)));
      const double u = body.terminal, dt = 0.02 * u / 9.81;
      in_air(solver, dt);
      load(body.model);
      for (int i = 0; i < 50; ++i) converged_step();
      EXPECT_NEAR(mean_fall(engine->state()), u * std::tanh(1.0), 0.02 * u);
      State state = engine->state();
      for (Vec3d& v : state.velocities) v = {0, -u, 0};
      engine->set_state(state);
      for (int i = 0; i < 50; ++i) converged_step();
      EXPECT_NEAR(mean_fall(engine->state()), u, 2e-3 * u);
    }
}

// What drifts with the wind has no drag: it falls as in a wind from below, relative to it.
TEST_P(AirSteps, TheWindCarriesAFreeSheetAlong) {
  for (const SolverKind solver : kSteppersInAir) {
    SCOPED_TRACE(static_cast<int>(solver));
    in_air(solver, 0.01);
    params.gravity = 0;
    params.wind_speed = 3;
    params.wind_rise = 90;
    Model sheet = sheet_in_air(true);
    load(sheet);
    for (int i = 0; i < 150; ++i) converged_step();
    const double u = -mean_fall(engine->state());
    // du / dt = k (3 - u)^2 with k = rho c / (2 m'): 1 / (3 - u) = 1 / 3 + k t.
    const double k = kAir * kDrag / (2 * kDensity * kSheet);
    EXPECT_NEAR(u, 3 - 1 / (1 / 3.0 + k * 1.5), 0.02 * 3);
  }
}

// The judge sums up the drag by formulas of its own: momentum balances, and in barrier steps energy changes
// by no more than the work of the air.
TEST_P(AirSteps, TheJudgeAccountsForTheAir) {
  for (const SolverKind solver : kSteppersInAir) {
    SCOPED_TRACE(static_cast<int>(solver));
    in_air(solver, 0.005);
    params.newton_tolerance = 1e-8;
    params.pcg_tolerance = 1e-8;
    params.wind_speed = 6;
    params.wind_heading = 30;
    params.wind_rise = 35;
    params.gust = 0.5;
    Model sheet = sheet_in_air(true);
    load(sheet);
    for (int i = 0; i < 40; ++i) {
      const StepReport report = converged_step();
      ASSERT_TRUE(report.judgement);
      const StepJudgement& judged = *report.judgement;
      const double scale = 0.24 * kDensity * kSheet * 6;
      EXPECT_LT(judged.law.momentum, (sizeof(Real) == 8 ? 1e-6 : 1e-3) * scale) << report.frame;
      if (solver != SolverKind::velocity) {
        EXPECT_LT(judged.energy_change, judged.work + 1e-6);
      }
    }
  }
}

// A state that is set again continues with the same wind.
TEST_P(AirSteps, ASavedStateContinues) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::velocity}) {
    in_air(solver, 0.01);
    params.wind_speed = 5;
    params.gust = 0.6;
    Model sheet = sheet_in_air(true);
    load(sheet);
    for (int i = 0; i < 5; ++i) engine->step();
    const State middle = engine->state();
    for (int i = 0; i < 5; ++i) engine->step();
    const State end = engine->state();
    engine->set_state(middle);
    for (int i = 0; i < 5; ++i) engine->step();
    const State again = engine->state();
    for (std::size_t i = 0; i < end.positions.size(); ++i)
      EXPECT_LT(norm(end.positions[i] - again.positions[i]), sizeof(Real) == 8 ? 1e-6 : 1e-3);
  }
}

INSTANTIATE_ON_BACKENDS(AirSteps);

}  // namespace
}  // namespace stickslip
