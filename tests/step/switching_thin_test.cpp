// Changes to barrier steps during an impact of cloth, hair or a solid that velocity-level steps leave with
// surfaces through each other.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using namespace fixtures;

/// An octahedron whose triangles are halved twice, on a sphere.
void add_round_collider(Model& model, double radius, const Vec3d& center, const Motion& motion = {}) {
  std::vector<Vec3d> nodes{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  std::vector<Vec3i> triangles{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                               {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int round = 0; round < 2; ++round) {
    const auto middle = [&](std::int32_t a, std::int32_t b) {
      const Vec3d x = normalized(nodes[static_cast<std::size_t>(a)] + nodes[static_cast<std::size_t>(b)]);
      for (std::size_t i = 0; i < nodes.size(); ++i)
        if (norm(nodes[i] - x) < 1e-9) return static_cast<std::int32_t>(i);
      nodes.push_back(x);
      return static_cast<std::int32_t>(nodes.size() - 1);
    };
    std::vector<Vec3i> finer;
    for (const Vec3i& t : triangles) {
      const std::int32_t a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      for (const Vec3i& part : {Vec3i{t[0], a, c}, Vec3i{a, t[1], b}, Vec3i{c, b, t[2]}, Vec3i{a, b, c}})
        finer.push_back(part);
    }
    triangles = std::move(finer);
  }
  for (Vec3d& x : nodes) x = center + radius * x;
  add_collider(model, "ball", nodes, triangles, 0, motion);
}

/// A sheet that falls on a ball.
Model cloth_on_ball() {
  Model model = thin_model();
  model.materials[0].young = 1e6;
  model.materials[0].density = 300;
  model.materials[0].damping = 0.005;
  add_round_collider(model, 0.2, {0, 0, 0});
  add_sheet(model, 0.26, 0.6, 14, 0.35, {0, -4, 0}).thickness = 1e-3;
  return model;
}

/// A soft box that falls on a ball.
Model box_on_ball() {
  Model model = thin_model();
  add_round_collider(model, 0.2, {0, 0, 0});
  add_box(model, "box", {0.3, 0.2, 0.3}, {0, 0.31, 0}, 3, 0, {0, -4, 0});
  return model;
}

/// A sheet that falls on the edge of a solid. A rigid body spins beside them.
Model cloth_beside_a_body() {
  Model model = thin_model();
  model.materials[0].young = 1e6;
  model.materials[0].density = 300;
  add_rigid_box(model, {0.1, 0.05, 0.08}, pose_at({2, 1, 0}, {0.5, 0.3, 0.6}));
  model.bodies[0].velocity = {1, 0, 0};
  model.bodies[0].spin = {5, 3, 10};
  const Object& solid = add_box(model, "solid", {0.2, 0.2, 0.2}, {0, 0, 0}, 2);
  for (std::int32_t n = solid.node_begin; n < solid.node_end; ++n) {
    Vec3d& x = model.positions[static_cast<std::size_t>(n)];
    x = rotation_by(Vec3d{0, 0, 0.6}).rotate(x);
  }
  add_sheet(model, 0.22, 0.6, 10, 0.35, {0, -7, 0}).thickness = 1e-3;
  return model;
}

/// Strands that fall on a ball.
Model hair_on_ball(double speed) {
  Model model = thin_model();
  model.materials[0].young = 1e7;
  model.materials[0].damping = 0.01;
  add_round_collider(model, 0.2, {0, 0, 0});
  for (int i = -1; i <= 1; ++i) {
    const double z = 0.05 * i;
    add_rod(model, {0, std::sqrt(0.04 - z * z) + 0.06, z}, {1, 0, 0}, 0.6, 12, {0, -speed, 0});
  }
  return model;
}

Model slow_hair() { return hair_on_ball(2); }
Model fast_hair() { return hair_on_ball(8); }

struct Change {
  const char* name;
  Model (*make)();
  SolidCoupling from;
  SolverKind to;
  int steps;
  double force;       // [N] that moving apart works against, at most
  bool parts = true;  // surfaces go through each other in some step
};
constexpr Change kChanges[] = {
    {"cloth, admm to ipc", cloth_on_ball, SolidCoupling::nodal_admm, SolverKind::ipc, 7, 20},
    {"cloth, admm to barrier_al", cloth_on_ball, SolidCoupling::nodal_admm, SolverKind::barrier_al, 7, 20},
    {"cloth, nsgs to ipc", cloth_on_ball, SolidCoupling::rounds, SolverKind::ipc, 5, 20},
    {"hair, admm to ipc", slow_hair, SolidCoupling::nodal_admm, SolverKind::ipc, 7, 20},
    {"hair, admm to barrier_al", slow_hair, SolidCoupling::nodal_admm, SolverKind::barrier_al, 7, 20},
    {"hair, nsgs to ipc", fast_hair, SolidCoupling::rounds, SolverKind::ipc, 5, 20},
    {"solid, admm to ipc", box_on_ball, SolidCoupling::nodal_admm, SolverKind::ipc, 7, 0, false},
    {"cloth beside a body, admm to ipc", cloth_beside_a_body, SolidCoupling::nodal_admm, SolverKind::ipc, 2,
     200}};

class SwitchingThin : public ThinTest {
 protected:
  void prepare() override {
    if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
    ThinTest::prepare();
    params.dt = 0.02;
    params.eps_v = 1e-2;
    params.newton_tolerance = 1e-2;
    // Few, and from zero, so that surfaces go through each other.
    params.admm_iterations = 5;
    LabParams cold = stepping_lab_params();
    cold.warm_start = false;
    engine->set_contact_params(cold);
  }

  const Params& velocity(SolidCoupling coupling) {
    choose(SolverKind::velocity);
    params.coupling = coupling;
    return params;
  }
  /// Steps by nodal_admm from the start of the scene.
  void fall(Model& model, int steps) {
    velocity(SolidCoupling::nodal_admm);
    load(model);
    for (int k = 0; k < steps; ++k) engine->step();
  }
  const Params& barrier(SolverKind solver) {
    choose(solver);
    return params;
  }
  bool moved_apart() const { return engine->load_note().find("moved apart") != std::string::npos; }
};

double energy_of(const StepReport& report) {
  return report.kinetic_energy + report.elastic_energy + report.gravity_energy;
}

/// [m] of any node.
double way_between(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i)
    most = std::max(most, norm(a.positions[i] - b.positions[i]));
  return most;
}

// After each step of an impact: two steps by the barrier solver, one at velocity level, and again one by the
// barrier solver.
TEST_P(SwitchingThin, ToBarrierStepsAndBackDuringAnImpact) {
  for (const Change& change : kChanges) {
    Model model = change.make();
    velocity(change.from);
    load(model);
    int parted = 0;
    for (int k = 1; k <= change.steps; ++k) {
      SCOPED_TRACE(std::string(change.name) + ", step " + std::to_string(k));
      const StepReport report = engine->step();
      const State before = engine->state();
      ASSERT_NO_THROW(engine->set_params(barrier(change.to)));
      const State after = engine->state();
      EXPECT_EQ(after.frame, before.frame);
      EXPECT_EQ(after.time, before.time);
      if (model.bodies.empty()) {
        EXPECT_EQ(after.velocities, before.velocities);
      } else {
        const BodyState &is = after.bodies[0], &was = before.bodies[0];
        EXPECT_LT(norm(is.pose.x - was.pose.x), 1e-6);
        EXPECT_LT(norm(rotation_vector(is.pose.q * was.pose.q.conjugate())), 1e-4);
        EXPECT_LT(norm(is.velocity - was.velocity), 1e-9);
        EXPECT_LT(norm(is.spin - was.spin), 1e-9);
      }
      const double way = way_between(before, after);
      if (moved_apart()) {
        ++parted;
        EXPECT_LT(way, 0.05);
      } else {
        EXPECT_EQ(way, 0);
      }
      const double most = energy_of(report) + change.force * way + 1e-3 * std::abs(energy_of(report));
      for (int i = 0; i < 2; ++i) EXPECT_LT(energy_of(step()), most);
      ASSERT_NO_THROW(engine->set_params(velocity(change.from)));
      engine->step();
      ASSERT_NO_THROW(engine->set_params(barrier(change.to)));
      step();
      ASSERT_NO_THROW(engine->set_params(velocity(change.from)));
      engine->set_state(before);
    }
    EXPECT_EQ(parted > 0, change.parts) << change.name << ": or the test shows nothing";
  }
}

// The same calls give the same bits: a replay of a run with a change of solver depends on it.
TEST_P(SwitchingThin, AChangeOfSolverIsRepeatable) {
  std::vector<State> ends;
  for (int run = 0; run < 2; ++run) {
    prepare();
    Model model = cloth_on_ball();
    fall(model, 8);
    engine->set_params(barrier(SolverKind::ipc));
    EXPECT_TRUE(moved_apart());
    step();
    ends.push_back(engine->state());
  }
  EXPECT_EQ(ends[0].positions, ends[1].positions);
  EXPECT_EQ(ends[0].velocities, ends[1].velocities);
}

// An engine that continues from a state has no recent ones. The scene's start may do.
TEST_P(SwitchingThin, AStateOfAnotherRunStartsFromTheStartOfTheScene) {
  Model model = cloth_on_ball();
  fall(model, 6);
  const State state = engine->state();
  engine->load(model);
  engine->set_state(state);
  ASSERT_NO_THROW(engine->set_params(barrier(SolverKind::ipc)));
  EXPECT_NE(engine->load_note().find("from 6 steps before"), std::string::npos) << engine->load_note();
  step();
}

TEST_P(SwitchingThin, WhatIsTooDeepIsRefusedWithAWayOut) {
  Model model = fast_hair();
  fall(model, 3);
  const State before = engine->state();
  try {
    engine->set_params(barrier(SolverKind::ipc));
    ADD_FAILURE() << engine->load_note();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("and 'ball' intersect in frame 3"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("penetration_guard = true"), std::string::npos) << error.what();
  }
  EXPECT_EQ(engine->params().solver, SolverKind::velocity);
  EXPECT_EQ(engine->state().positions, before.positions);
  engine->step();
}

INSTANTIATE_ON_BACKENDS(SwitchingThin);

}  // namespace
}  // namespace stickslip
