// What barrier steps keep beside positions, poses and velocities is part of the state: it continues elsewhere
// with the same bits.
#include <limits>
#include <string>
#include <vector>

#include "tests/fixtures/coupled_models.h"
#include "tests/step/barrier_bodies_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class BarrierMemoryTest : public fixtures::BarrierBodiesTest {
 protected:
  std::unique_ptr<Engine> another(const Model& model) const {
    std::unique_ptr<Engine> other = make_engine(GetParam().backend, 1);
    other->set_params(params);
    other->load(model);
    return other;
  }

  static void expect_same(const State& a, const State& b, const std::string& what) {
    EXPECT_EQ(a.positions, b.positions) << what;
    EXPECT_EQ(a.velocities, b.velocities) << what;
    ASSERT_EQ(a.bodies.size(), b.bodies.size());
    for (std::size_t i = 0; i < a.bodies.size(); ++i) {
      EXPECT_EQ(a.bodies[i].pose.x, b.bodies[i].pose.x) << what << ", body " << i;
      EXPECT_EQ(a.bodies[i].pose.q.w, b.bodies[i].pose.q.w) << what << ", body " << i;
      EXPECT_EQ(a.bodies[i].pose.q.v, b.bodies[i].pose.q.v) << what << ", body " << i;
      EXPECT_EQ(a.bodies[i].velocity, b.bodies[i].velocity) << what << ", body " << i;
      EXPECT_EQ(a.bodies[i].spin, b.bodies[i].spin) << what << ", body " << i;
    }
    EXPECT_EQ(a.barrier.stiffness, b.barrier.stiffness) << what;
    EXPECT_EQ(a.barrier.stiffening, b.barrier.stiffening) << what;
    EXPECT_EQ(a.barrier.multipliers, b.barrier.multipliers) << what;
    ASSERT_EQ(a.barrier.bodies.size(), b.barrier.bodies.size());
    for (std::size_t i = 0; i < a.barrier.bodies.size(); ++i) {
      EXPECT_EQ(a.barrier.bodies[i].positions, b.barrier.bodies[i].positions) << what << ", body " << i;
      EXPECT_EQ(a.barrier.bodies[i].velocities, b.barrier.bodies[i].velocities) << what << ", body " << i;
      EXPECT_EQ(a.barrier.bodies[i].skin, b.barrier.bodies[i].skin) << what << ", body " << i;
    }
    EXPECT_EQ(a.barrier.colliders, b.barrier.colliders) << what;
    EXPECT_EQ(a.barrier.collider_velocities, b.barrier.collider_velocities) << what;
  }
};

/// Boxes that fall on each other on the floor and on a board that swings.
Model boxes_on_a_board() {
  Model model;
  fixtures::add_floor(model);
  const std::int32_t board = add_rigid_box(model, {0.5, 0.05, 0.5}, pose_at({2, 0.3, 0}), false);
  model.body_motions.push_back({});
  model.body_motions[0].angular_velocity = {0, 0, 0.4};
  model.body_motions[0].center = {2, 0.3, 0};
  model.bodies[static_cast<std::size_t>(board)].motion = 0;
  for (int i = 0; i < 3; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0.03 * i, 0.105 + 0.21 * i, 0}));
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({2.05, 0.46, 0}));
  fixtures::add_rigid_sphere(model, 0.08, {2.0, 0.66, 0.02});
  return model;
}

TEST_P(BarrierMemoryTest, AStateContinuesWithTheSameBitsInAnotherEngine) {
  if (params.solver == SolverKind::ccd_al) GTEST_SKIP() << "multipliers of its contacts are not in the state";
  params.newton_tolerance = Params{}.newton_tolerance;
  std::vector<std::pair<std::string, Model>> scenes;
  scenes.emplace_back("boxes", boxes_on_a_board());
  scenes.emplace_back("rigid and soft", fixtures::small_heap(false));
  scenes.emplace_back("joints", fixtures::small_heap(true));
  for (auto& [name, model] : scenes) {
    load(model);
    double strain = 0;
    for (int i = 0; i < 24; ++i) {
      strain = std::max(strain, engine->step().body_strain);
      if (i % 8 != 3) continue;
      const State now = engine->state();
      const std::unique_ptr<Engine> other = another(model);
      other->set_state(now);
      expect_same(other->state(), now, name + " as set");
      engine->step();
      other->step();
      expect_same(other->state(), engine->state(), name + " a step later");
      for (int k = 0; k < 2; ++k) {
        other->step();
        engine->step();
      }
      expect_same(other->state(), engine->state(), name + " three steps later");
    }
    EXPECT_GT(strain, 1e-9) << name << ": there is nothing to keep";
  }
}

TEST_P(BarrierMemoryTest, WhatDoesNotFitIsIgnored) {
  Model model = boxes_on_a_board();
  load(model);
  for (int i = 0; i < 6; ++i) engine->step();
  const State good = engine->state();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto take = [&](const auto& change) {
    State state = good;
    change(state);
    const std::unique_ptr<Engine> other = another(model);
    other->set_state(state);
    const State now = other->state();
    for (std::size_t b = 0; b < good.bodies.size(); ++b) {
      EXPECT_NEAR(norm(now.bodies[b].pose.x - state.bodies[b].pose.x), 0, 1e-9) << b;
      EXPECT_NEAR(norm(now.bodies[b].velocity - state.bodies[b].velocity), 0, 1e-9) << b;
    }
    const StepReport report = other->step();
    EXPECT_TRUE(report.converged || params.solver == SolverKind::ccd_al) << report.stop_reason;
    EXPECT_EQ(report.intersections, 0);
  };
  // A body was moved, or thrown.
  take([](State& s) { s.bodies[5].pose.x += Vec3d{0, 0.5, 0}; });
  take([](State& s) { s.bodies[5].velocity = {1, 2, 3}; });
  take([](State& s) { s.barrier.bodies.pop_back(); });
  take([](State& s) { s.barrier.bodies.clear(); });
  take([&](State& s) { s.barrier.bodies[1].positions[2][0] = kNaN; });
  take([&](State& s) { s.barrier.bodies[1].velocities[3][1] = kNaN; });
  take([](State& s) { std::swap(s.barrier.bodies[1], s.barrier.bodies[2]); });
  take([](State& s) { s.barrier.bodies[1].skin = -1; });
  take([&](State& s) { s.barrier.bodies[1].skin = kNaN; });
  take([](State& s) { s.barrier.bodies[1].skin = 1; });
  for (const double wrong : {kNaN, -1.0, 0.0, std::numeric_limits<double>::infinity(), 1e300}) {
    take([&](State& s) { s.barrier.stiffness = wrong; });
    take([&](State& s) { s.barrier.stiffening = wrong; });
  }
  take([](State& s) { s.barrier.multipliers.assign(7, {1, 2, 3}); });
  take([&](State& s) { s.barrier.multipliers.assign(1, {kNaN, 0, 0}); });
  take([](State& s) { s.barrier.colliders.pop_back(); });
  take([&](State& s) { s.barrier.colliders.back()[1] = kNaN; });
  take([&](State& s) { s.barrier.collider_velocities.front()[1] = kNaN; });
}

TEST_P(BarrierMemoryTest, SkinsFollowTheSettings) {
  Model model = boxes_on_a_board();
  load(model);
  engine->step();  // nothing touches yet, so that no skin has to grow
  const State state = engine->state();
  EXPECT_EQ(state.barrier.wanted_skin, params.contact_skin * params.d_hat);
  params.contact_skin /= 2;
  const std::unique_ptr<Engine> other = another(model);
  other->set_state(state);
  EXPECT_NEAR(other->state().barrier.bodies[1].skin, state.barrier.bodies[1].skin / 2, 1e-12);
}

INSTANTIATE_ON_BARRIERS(BarrierMemoryTest);

}  // namespace
}  // namespace stickslip
