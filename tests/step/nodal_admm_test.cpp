// Steps with coupling = nodal_admm, compared with other couplings and with mechanics.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/coupled_models.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_rigid_box;
using fixtures::pose_at;
using fixtures::small_heap;
using Vec3d = Vec<double, 3>;

class NodalAdmmSteps : public fixtures::SolidStepTest {
 protected:
  NodalAdmmSteps() {
    params.coupling = SolidCoupling::nodal_admm;
    params.admm_tolerance = 1e-11;
    params.admm_iterations = 10000;
  }
};

/// The largest difference of velocities of nodes and bodies.
double apart(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.velocities.size(); ++i)
    most = std::max(most, norm(a.velocities[i] - b.velocities[i]));
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max({most, norm(a.bodies[i].velocity - b.bodies[i].velocity),
                     0.1 * norm(a.bodies[i].spin - b.bodies[i].spin)});
  return most;
}

double normal_force(Engine& engine) {
  Snapshot snapshot;
  engine.snapshot(snapshot);
  double sum = 0;
  for (const ContactRecord& c : snapshot.contacts) sum += c.normal_force;
  return sum;
}

TEST_P(NodalAdmmSteps, SmallerTolerancesComeNearerToTheFactorisedProblem) {
  for (const double young : {1e4, 1e6})
    for (const bool accelerated : {false, true}) {
      SCOPED_TRACE(std::to_string(young) + (accelerated ? " accelerated" : ""));
      Model model = small_heap(false);
      model.materials[0].young = young;
      params.coupling = SolidCoupling::factor;
      params.contact_solver = ContactSolverKind::newton_ac;
      contact.tolerance = 1e-10;
      load(model);
      run(2);
      const State expected = engine->state();
      const double force = normal_force(*engine);
      EXPECT_GT(force, 100);
      params.coupling = SolidCoupling::nodal_admm;
      params.admm_accelerated = accelerated;
      for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
        params.admm_tolerance = tolerance;
        contact.tolerance = std::max(1e-7, 1e3 * tolerance);
        load(model);
        const StepReport report = run(2);
        EXPECT_EQ(report.contact_solve->message, "");
        EXPECT_LT(report.contact_solve->rounds, params.admm_iterations);
        EXPECT_LT(apart(engine->state(), expected), 100 * tolerance / params.dt) << tolerance;
        EXPECT_NEAR(normal_force(*engine), force, (1e4 * tolerance + 1e-7) * force) << tolerance;
      }
    }
}

/// Contacts that sleep within a projection, and full blocks in place of closed solutions, change the way to
/// the solution alone.
TEST_P(NodalAdmmSteps, SleepAndFullBlocksLeadToTheSameVelocities) {
  Model model = small_heap(false);
  params.projection_sweeps = 30;
  contact.tolerance = 1e-7;
  std::vector<State> states;
  struct Case {
    double sleep;
    bool isotropic;
  };
  for (const Case& with : {Case{0, true}, {0.01, true}, {0.5, true}, {0, false}, {0.5, false}}) {
    params.admm_sleep = with.sleep;
    params.admm_isotropic = with.isotropic;
    load(model);
    const StepReport report = run(5);
    EXPECT_EQ(report.contact_solve->message, "") << with.sleep << with.isotropic;
    EXPECT_LT(report.contact_solve->changes.back(), params.admm_tolerance);
    EXPECT_EQ(report.contact_solve->changes.size(), static_cast<std::size_t>(report.contact_solve->rounds));
    states.push_back(engine->state());
    EXPECT_LT(apart(states.back(), states.front()), 1e-6) << with.sleep << with.isotropic;
  }
}

/// With an inverse at hand iterations follow the pull on nodes without a product with A + W. PCG does without
/// an inverse.
TEST_P(NodalAdmmSteps, AnInverseLeadsToTheSameVelocitiesAsPcg) {
  Model model = small_heap(false);
  contact.tolerance = 1e-7;
  params.pcg_tolerance = 1e-12;
  std::vector<State> states;
  std::vector<int> solves;
  for (const PreconditionerKind kind : {PreconditionerKind::block_jacobi, PreconditionerKind::factors}) {
    params.preconditioner = kind;
    load(model);
    const StepReport report = run(5);
    EXPECT_EQ(report.contact_solve->message, "");
    states.push_back(engine->state());
    solves.push_back(report.pcg_iterations);
  }
  EXPECT_LT(2 * solves[1], solves[0]);
  EXPECT_LT(apart(states[1], states[0]), 1e-8);
}

TEST_P(NodalAdmmSteps, ContactsHaveTheColoursOfTheSweeps) {
  for (const SolidCoupling coupling : {SolidCoupling::nodal_admm, SolidCoupling::ica}) {
    params.coupling = coupling;
    params.admm_tolerance = 1e-6;
    contact.tolerance = 1e-3;
    Model model = small_heap(false);
    load(model);
    const StepReport report = run(5);
    Snapshot snapshot;
    engine->snapshot(snapshot);
    ASSERT_GT(snapshot.contacts.size(), 4U);
    std::vector<int> count(static_cast<std::size_t>(report.contact_solve->colours), 0);
    for (const ContactRecord& contact : snapshot.contacts) {
      ASSERT_GE(contact.colour, 0);
      ASSERT_LT(contact.colour, report.contact_solve->colours);
      ++count[static_cast<std::size_t>(contact.colour)];
    }
    EXPECT_GT(*std::ranges::min_element(count), 0);
  }
}

/// Rigid bodies and blocks with anisotropic W_cc, torsion, and friction with a direction.
TEST_P(NodalAdmmSteps, OtherLawsAreThoseOfTheFactorisedProblem) {
  for (const int law : {0, 1, 2}) {
    SCOPED_TRACE(law);
    State states[2];
    for (const bool nodal : {false, true}) {
      Model model = small_heap(false);
      if (law == 1) model.materials[0].torsion_radius = 0.02;
      if (law == 2) {
        model.materials[0].friction_kind = FrictionKind::elliptic;
        model.materials[0].mu_across = 0.6;
      }
      params.coupling = nodal ? SolidCoupling::nodal_admm : SolidCoupling::factor;
      params.contact_solver = ContactSolverKind::newton_ac;
      contact.tolerance = nodal ? 1e-7 : 1e-10;
      load(model);
      EXPECT_EQ(run(5).contact_solve->message, "");
      states[nodal] = engine->state();
    }
    EXPECT_LT(apart(states[0], states[1]), 1e-6);
  }
}

TEST_P(NodalAdmmSteps, ABlockOnARigidInclineSticksOrSlidesByMu) {
  for (const double mu : {0.3, 0.8}) {
    fixtures::BlockOnIncline incline(mu);
    load(incline.model);
    run(60);
    const State state = engine->state();
    const Vec3d v = fixtures::mean(state.velocities, 0, static_cast<int>(state.velocities.size()));
    EXPECT_NEAR(dot(v, incline.down), 0.6 * incline.acceleration, 2e-3) << mu;
  }
}

/// Velocities at the end are those of the impulses: exact momentum, however few the iterations.
TEST_P(NodalAdmmSteps, AFreePairKeepsItsMomentumWithFewIterations) {
  params.gravity = 0;
  params.admm_iterations = 2;
  Model model = fixtures::free_pair();
  load(model);
  const StepReport first = engine->step();
  bool touched = false;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = engine->step();
    touched = touched || report.contacts > 0;
    EXPECT_LE(report.contact_solve->rounds, 2);
    EXPECT_LT(norm(report.momentum - first.momentum), 1e-8 * norm(first.momentum)) << report.frame;
    EXPECT_LE(report.contact_solve->law->cone, 1e-9 * report.contact_solve->law->impulse) << report.frame;
  }
  EXPECT_TRUE(touched);
  EXPECT_LT(engine->state().bodies[0].velocity[0], 1.0);
}

/// The control nodes of an affine body have weights in place of its nodes.
TEST_P(NodalAdmmSteps, AnAffineBodyCarriesARigidOne) {
  Model model;
  const std::int32_t rigid = add_rigid_box(model, {0.3, 0.05, 0.3}, pose_at({0, 0.45, 0}));
  fixtures::add_floor(model);
  add_box(model, "block", {0.4, 0.4, 0.4}, {0, 0.2, 0}, 3, 0, {0, 0, 0}, fixtures::BoxBody::affine);
  model.materials[0].young = 1e6;
  params.admm_tolerance = 1e-10;
  load(model);
  run(60);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  double on_block = 0, on_floor = 0;
  for (const ContactRecord& c : snapshot.contacts)
    (c.object_b == -1 ? on_floor : on_block) += c.normal_force * std::abs(c.normal[1]);
  const double weight = 9.81 * 1000 * model.bodies[rigid].volume, block = 9.81 * 1000 * 0.4 * 0.4 * 0.4;
  EXPECT_NEAR(on_block, weight, 1e-3 * weight);
  EXPECT_NEAR(on_floor, weight + block, 1e-3 * (weight + block));
}

/// Joints between rigid bodies are blocks of the projection.
TEST_P(NodalAdmmSteps, JointsOfRigidBodiesHold) {
  Model model;
  add_rigid_box(model, {0.1, 0.02, 0.1}, pose_at({0, 0.43, 0}));
  add_rigid_box(model, {0.1, 0.02, 0.1}, pose_at({0.25, 0.43, 0}));
  fixtures::add_floor(model);
  add_box(model, "block", {0.4, 0.4, 0.4}, {0, 0.2, 0}, 2);
  Joint ball;
  ball.name = "ball";
  add_joint_between(model, ball, 0, 1, {{0.125, 0.43, 0}, Quat::identity()},
                    {{0.125, 0.43, 0}, Quat::identity()});
  contact.tolerance = 1e-6;
  load(model);
  EXPECT_EQ(run(10).contact_solve->message, "");
  const State state = engine->state();
  const Vec3d a = state.bodies[0].pose.apply({0.125, 0, 0}), b = state.bodies[1].pose.apply({-0.125, 0, 0});
  EXPECT_LT(norm(a - b), 1e-3);
  params.coupling = SolidCoupling::rounds;
  load(model);
  run(10);
  EXPECT_LT(apart(engine->state(), state), 1e-4);
}

/// A hinge with a motor between a solid and a rigid body, and a ball between the world and the solid, which
/// is also affine: then sides act on its control nodes.
TEST_P(NodalAdmmSteps, JointsOnSolidsAreThoseOfTheFactorisedProblem) {
  for (const bool affine : {false, true}) {
    SCOPED_TRACE(affine);
    Model model = small_heap(true);
    if (affine) {
      model = small_heap(false);
      add_box(model, "upper", {0.2, 0.1, 0.2}, {0.6, 0.3, 0}, 2, 0, {0.1, 0, 0}, fixtures::BoxBody::affine);
      Joint ball;
      ball.name = "ball";
      const Pose frame{{0.35, 0.25, 0.02}, Quat::identity()};
      add_joint_between(model, ball, 2, 3, frame, frame);
    }
    params.coupling = SolidCoupling::factor;
    params.contact_solver = ContactSolverKind::newton_ac;
    contact.tolerance = 1e-10;
    load(model);
    run(3);
    const State expected = engine->state();
    params.coupling = SolidCoupling::nodal_admm;
    contact.tolerance = 1e-7;
    load(model);
    const StepReport report = run(3);
    EXPECT_EQ(report.contact_solve->message, "");
    EXPECT_LT(report.contact_solve->rounds, params.admm_iterations);
    EXPECT_LT(apart(engine->state(), expected), 1e-6);
  }
}

INSTANTIATE_ON_BACKENDS(NodalAdmmSteps);

TEST(NodalAdmmOnTheCpu, AStepHasTheSameBitsOnAnyNumberOfThreads) {
  State states[3];
  for (const int threads : {1, 2, 3}) {
    Model model = small_heap(false);
    add_box(model, "upper", {0.2, 0.2, 0.2}, {0.05, 0.58, 0}, 3, 10);
    add_box(model, "wide", {0.8, 0.1, 0.8}, {1.2, 0.051, 0}, 17);  // enough contacts for two tasks
    finalize(model);
    const auto engine = make_engine(Backend::cpu, threads);
    Params params;
    params.solver = SolverKind::velocity;
    params.coupling = SolidCoupling::nodal_admm;
    engine->set_params(params);
    engine->load(model);
    int contacts = 0;
    for (int i = 0; i < 4; ++i) contacts = engine->step().contacts;
    EXPECT_GT(contacts, 300);
    states[threads - 1] = engine->state();
  }
  for (const State& state : states) {
    for (std::size_t i = 0; i < state.positions.size(); ++i)
      ASSERT_EQ(norm(state.positions[i] - states[0].positions[i]), 0) << i;
    for (std::size_t i = 0; i < state.bodies.size(); ++i)
      ASSERT_EQ(norm(state.bodies[i].velocity - states[0].bodies[i].velocity), 0) << i;
  }
}

}  // namespace
}  // namespace stickslip
