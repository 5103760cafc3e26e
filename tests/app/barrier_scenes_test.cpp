// Every shipped scene with rigid bodies by the barrier solvers: refused by name, or moved without an
// intersection and with small strains; and changes between the families on the way.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/io/scene/scene.h"
#include "gpu/engine.h"

namespace stickslip {
namespace {

// Larger scenes take minutes: `stickslip run NAME --solver ipc`.
constexpr std::size_t kMostNodes = 20000, kMostBodies = 150;

std::vector<Scene> rigid_scenes() {
  std::vector<Scene> scenes;
  for (const SceneInfo& info : list_scenes()) {
    Scene scene = load_scene(info.name);
    const std::size_t bodies = scene.model.bodies.size();
    if (bodies > 0 && bodies <= kMostBodies && scene.model.node_count() <= kMostNodes)
      scenes.push_back(std::move(scene));
  }
  return scenes;
}

/// Largest change of the speed of a body's centre, or of its spin times a tenth of a metre.
double jump(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max({most, norm(a.bodies[i].velocity - b.bodies[i].velocity),
                     0.1 * norm(a.bodies[i].spin - b.bodies[i].spin)});
  return most;
}

double moved(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max(most, norm(a.bodies[i].pose.x - b.bodies[i].pose.x));
  return most;
}

TEST(LongBarrierScenes, GoThroughAllFamiliesAndBack) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
  int ran = 0;
  for (const Scene& scene : rigid_scenes()) {
    SCOPED_TRACE(scene.name);
    Params params = scene.params;
    params.check_intersections = true;
    params.drop_unsupported = true;
    ASSERT_FALSE(stepper_refusal(scene.model, SolverKind::ipc, true));
    const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 2);
    engine->set_params(params);
    engine->set_contact_params(scene.contact_params);
    engine->load(scene.model);
    const SolverKind order[] = {params.solver, SolverKind::ipc, SolverKind::barrier_al, params.solver};
    for (const SolverKind solver : order) {
      const State before = engine->state();
      params.solver = solver;
      ASSERT_NO_THROW(engine->set_params(params));
      const State after = engine->state();
      // Deep overlaps are moved apart, and elastic nodes out of half-spaces; the note says so.
      const bool pushed = engine->load_note().find("moved") != std::string::npos;
      if (!pushed) {
        EXPECT_LE(moved(before, after), 1e-12);
      }
      for (std::size_t i = 0; i < before.positions.size() && !pushed; ++i)
        ASSERT_LE(norm(before.positions[i] - after.positions[i]), 1e-12) << "node " << i;
      // Scripted bodies have the speed of the step before or after.
      double worst = 0;
      for (std::size_t b = 0; b < scene.model.bodies.size(); ++b)
        if (scene.model.bodies[b].moves && !pushed) {
          State one, other;
          one.bodies = {before.bodies[b]};
          other.bodies = {after.bodies[b]};
          worst = std::max(worst, jump(one, other) / (1 + norm(before.bodies[b].velocity)));
        }
      EXPECT_LE(worst, 1e-10);
      for (int i = 0; i < 2; ++i) {
        const StepReport report = engine->step();
        if (solver == SolverKind::velocity) continue;
        EXPECT_EQ(report.intersections, 0) << report.frame;
        EXPECT_LE(report.body_strain, params.strain_bound) << report.frame;
      }
    }
    ++ran;
  }
  EXPECT_GE(ran, 15);
}

// The turn outruns what the barrier lets the ball go in a step, so springs pull it and the roots. Friction
// that follows the forces of these springs holds the hair: a step does not converge, and others take thrice
// as long.
constexpr const char* hair_on_a_fast_ball = R"(
[params]
dt = 0.01
d_hat = 5e-4
eps_v = 1e-2
newton_tolerance = 2e-2
pcg_tolerance = 1e-3
[[material]]
name = "fibre"
young = 1e7
poisson = 0.48
density = 1300
damping = 0.03
mu = 0.8
[[collider]]
name = "ball"
shape = "sphere"
radius = 0.07
edge = 0.014
material = "fibre"
position = [0.2, 0.32, 0]
motion = { center = [0.2, 0.32, 0], key = [{ time = 0.3 }, { time = 0.45, rotation = [0, 90, 0] }, { time = 0.9 }] }
[[object]]
name = "hair"
body = "rods"
shape = "hair"
radius = 0.07
strands = 30
length = 0.2
segments = 18
diameter = 1.5e-3
cap = 90
style = "frizzy"
curl_radius = 8e-3
curl_pitch = 0.05
material = "fibre"
position = [0.2, 0.32, 0]
follow = "ball"
)";

// Other compilers and processors round otherwise, and each rounding leads to another count of iterations: 12
// runs whose mu differed in the seventh digit had 1261, with a standard deviation of 54. If friction does not
// wait for the blocked script, 8 runs have 1628 to 2441, and steps that do not converge.
TEST(BarrierScenes, HairOfABallThatTurnsFastConverges) {
  if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
  Scene scene = parse_scene(hair_on_a_fast_ball, "hair");
  const std::unique_ptr<Engine> engine = make_engine(Backend::cpu, 1);
  engine->set_params(scene.params);
  int iterations = 0;
  for (const double mu : {0.8, 0.8000001}) {
    SCOPED_TRACE(mu);
    scene.model.materials[0].mu = mu;
    engine->load(scene.model);
    for (int i = 0; i < 70; ++i) {
      const StepReport report = engine->step();
      EXPECT_TRUE(report.converged) << report.frame << ": " << report.stop_reason;
      EXPECT_LE(report.newton_iterations, 100) << report.frame;
      iterations += report.newton_iterations;
    }
  }
  EXPECT_LE(iterations / 2, 1400);
}

}  // namespace
}  // namespace stickslip
