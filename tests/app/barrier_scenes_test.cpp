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

}  // namespace
}  // namespace stickslip
