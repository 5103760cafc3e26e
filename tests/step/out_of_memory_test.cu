// Steps that run out of memory, and continue.
#include <algorithm>
#include <cstring>
#include <string>

#include "gpu/engine_backend.h"
#include "tests/backend_test.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {

inline bool same_bits(const State& a, const State& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
  };
  return a.frame == b.frame && a.time == b.time && same(a.positions, b.positions) &&
         same(a.velocities, b.velocities) && same(a.bodies, b.bodies);
}

inline double largest_distance(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i)
    most = std::max(most, norm(a.positions[i] - b.positions[i]));
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max(most, norm(a.bodies[i].pose.x - b.bodies[i].pose.x));
  return most;
}

inline Model falling_boxes() {
  Model model;
  fixtures::add_box(model, "low", {1, 1, 1}, {0, 0.505, 0}, 2, 0, {0, -1, 0});
  fixtures::add_box(model, "high", {0.8, 0.8, 0.8}, {0.1, 1.475, 0.05}, 2, 10, {0, -1, 0});
  fixtures::add_floor(model);
  finalize(model);
  return model;
}

inline Model falling_cubes() {
  Model model;
  fixtures::add_pyramid(model, 3);
  for (stickslip::Body& body : model.bodies) body.pose.x[1] *= 1.02;
  fixtures::add_floor(model);
  finalize(model);
  return model;
}

/// A cube on an elastic block.
inline Model cube_on_block() {
  Model model;
  fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({0.02, 0.405, 0.01}, {0.1, 0.2, 0.0}));
  model.bodies[0].velocity = {0, -1, 0};
  fixtures::add_box(model, "block", {0.3, 0.29, 0.3}, {0, 0.15, 0}, 3);
  fixtures::add_floor(model);
  finalize(model);
  return model;
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

struct NoLimit {
  ~NoLimit() { limit_memory(0); }
};

/// One step after failures at increasing memory limits. Returns the number of failures.
inline int step_through_failures(Engine& engine) {
  const NoLimit lift;
  const State before = engine.state();
  int failures = 0;
  for (std::size_t room = 0;; room = std::max<std::size_t>(64, room + room / 2)) {
    limit_memory(memory_use().live + room);
    try {
      engine.step();
      return failures;
    } catch (const SimulationError& error) {
      ++failures;
      const std::string text = error.what();
      EXPECT_NE(text.find("out of memory"), std::string::npos) << text;
      EXPECT_NE(text.find("bytes asked for in step " + std::to_string(before.frame + 1)), std::string::npos)
          << text;
      limit_memory(0);
      EXPECT_TRUE(same_bits(before, engine.state())) << "after failure " << failures;
    }
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(OutOfMemory, LeavesAnElasticSceneAndItsRunUnchanged) {
  const Model model = falling_boxes();
  const auto engine = make_backend_engine(2), undisturbed = make_backend_engine(2);
  for (Engine* e : {engine.get(), undisturbed.get()}) e->load(model);
  int failures = 0;
  for (int i = 0; i < 6; ++i) {
    failures += step_through_failures(*engine);
    undisturbed->step();
    ASSERT_TRUE(same_bits(engine->state(), undisturbed->state())) << "frame " << i + 1;
  }
  EXPECT_GT(failures, 10);
}

namespace stickslip::STICKSLIP_BACKEND {

/// Compares with a run whose state was set to its own at the step where the other failed: both lose the
/// initial impulses of the step.
inline void expect_as_set_state(const Model& model, int steps, double tolerance) {
  Params params;
  params.solver = SolverKind::velocity;
  const auto engine = make_backend_engine(2), restarted = make_backend_engine(2),
             undisturbed = make_backend_engine(2);
  for (Engine* e : {engine.get(), restarted.get(), undisturbed.get()}) {
    e->set_params(params);
    e->load(model);
  }
  int failures = 0;
  for (int i = 0; i < steps; ++i) {
    const int failed = step_through_failures(*engine);
    if (failed > 0) restarted->set_state(restarted->state());
    failures += failed;
    restarted->step();
    undisturbed->step();
    ASSERT_TRUE(same_bits(engine->state(), restarted->state())) << "frame " << i + 1;
  }
  EXPECT_GT(failures, 10);
  EXPECT_LT(largest_distance(engine->state(), undisturbed->state()), tolerance);
}

}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(OutOfMemory, LeavesARigidSceneAsOneThatWasSetToThisState) {
  expect_as_set_state(falling_cubes(), 12, 1e-4);
}

BACKEND_TEST(OutOfMemory, LeavesACoupledSceneAsOneThatWasSetToThisState) {
  expect_as_set_state(cube_on_block(), 8, 5e-4);
}
