// Changes between velocity-level and barrier steps during a run.
#include <algorithm>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class SwitchingFamilies : public fixtures::EngineTest {
 protected:
  void prepare() override {
    if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
    fixtures::EngineTest::prepare();
  }
};

double distance_of(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max(most, norm(a.bodies[i].pose.x - b.bodies[i].pose.x));
  return most;
}

/// Largest change of a body's momentum or angular momentum, relative to its mass and size.
double momentum_jump(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max({most, norm(a.bodies[i].velocity - b.bodies[i].velocity),
                     0.1 * norm(a.bodies[i].spin - b.bodies[i].spin)});
  return most;
}

TEST_P(SwitchingFamilies, KeepPlacesAndMomentaExactly) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 3; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  add_rigid_box(model, {0.1, 0.06, 0.03}, pose_at({0.5, 0.6, 0}, {0.3, 0.2, 0.1}));
  model.bodies[3].spin = {3, -5, 4};
  model.bodies[3].velocity = {-0.5, 0, 0.2};
  add_rigid_sphere(model, 0.08, {1, 0.081, 0});
  model.bodies[4].velocity = {1, 0, 0};
  params.check_intersections = false;
  params.solver = SolverKind::velocity;
  load(model);
  const SolverKind order[] = {SolverKind::velocity, SolverKind::ipc,    SolverKind::barrier_al,
                              SolverKind::velocity, SolverKind::ccd_al, SolverKind::velocity};
  for (const SolverKind solver : order) {
    const State before = engine->state();
    params.solver = solver;
    engine->set_params(params);
    const State after = engine->state();
    EXPECT_LE(distance_of(before, after), 1e-14);
    EXPECT_LE(momentum_jump(before, after), 1e-10);
    for (int i = 0; i < 15; ++i) engine->step();
  }
  EXPECT_EQ(engine->state().frame, 90);
  for (std::size_t b = 0; b < 3; ++b)
    EXPECT_NEAR(engine->state().bodies[b].pose.x[1], 0.1 + 0.2 * static_cast<double>(b), 6e-3);
}

/// Boxes at velocity level, all of which are then `depth` [m] too low.
class SunkenSolids : public SwitchingFamilies {
 protected:
  State sink(Model& model, double depth) {
    params.solver = SolverKind::velocity;
    params.check_intersections = false;
    load(model);
    for (int i = 0; i < 3; ++i) engine->step();
    State state = engine->state();
    double lowest = 1e300;
    for (const Vec3d& x : state.positions) lowest = std::min(lowest, x[1]);
    for (Vec3d& x : state.positions) x[1] -= lowest + depth;
    engine->set_state(state);
    return state;
  }
  void switch_to(SolverKind solver) {
    params.solver = solver;
    params.check_intersections = true;
    engine->set_params(params);
  }
};

TEST_P(SunkenSolids, AreLiftedOutOfHalfSpacesWhereTheSolverChanges) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al})
    for (const fixtures::BoxBody body : {fixtures::BoxBody::deformable, fixtures::BoxBody::affine}) {
      SCOPED_TRACE(std::string(body == fixtures::BoxBody::affine ? "affine" : "deformable"));
      Model model;
      fixtures::add_floor(model);
      fixtures::add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.101, 0}, 2, 0, {0, 0, 0}, body);
      const double depth = 0.3 * params.d_hat;
      const State sunken = sink(model, depth);
      ASSERT_NO_THROW(switch_to(solver));
      EXPECT_NE(engine->load_note().find("moved out of half-spaces"), std::string::npos)
          << engine->load_note();
      const State lifted = engine->state();
      for (std::size_t i = 0; i < sunken.positions.size(); ++i) {
        const double way = norm(lifted.positions[i] - sunken.positions[i]);
        if (sunken.positions[i][1] > params.d_hat && body == fixtures::BoxBody::deformable) {
          EXPECT_EQ(way, 0) << "node " << i;
        } else {
          EXPECT_LE(way, depth + 0.021 * params.d_hat) << "node " << i;
        }
        EXPECT_GT(lifted.positions[i][1], 0) << "node " << i;
      }
      for (int i = 0; i < 5; ++i) step();
    }
}

TEST_P(SunkenSolids, AreAnErrorOfASceneThatStartsWithThem) {
  Model model;
  fixtures::add_floor(model);
  fixtures::add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.1 - 0.3 * params.d_hat, 0}, 2);
  EXPECT_THROW(load(model), std::invalid_argument);
  params.solver = SolverKind::velocity;
  load(model);
  EXPECT_THROW(switch_to(SolverKind::ipc), std::invalid_argument);
}

TEST_P(SunkenSolids, KeepGapsHoweverSmallInFrontOfHalfSpaces) {
  Model model;
  fixtures::add_floor(model);
  fixtures::add_box(model, "box", {0.2, 0.2, 0.2}, {0, 0.101, 0}, 2);
  const State low = sink(model, -1e-3 * params.d_hat);
  switch_to(SolverKind::ipc);
  EXPECT_EQ(engine->load_note(), "");
  for (std::size_t i = 0; i < low.positions.size(); ++i)
    EXPECT_EQ(engine->state().positions[i], low.positions[i]) << "node " << i;
}

INSTANTIATE_ON_BACKENDS(SwitchingFamilies);
INSTANTIATE_ON_BACKENDS(SunkenSolids);

}  // namespace
}  // namespace stickslip
