// Whole steps of rigid bodies compared with mechanics.
#include <cmath>

#include "gpu/contact_lab.h"
#include "gpu/rigid/step_scales.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class RigidSteps : public fixtures::VelocityStepTest {
 protected:
  RigidSteps() {
    contact.tolerance = 1e-8;
    contact.max_iterations = 10000;
  }
};

TEST_P(RigidSteps, AFreeBodyFliesAParabola) {
  Model model;
  add_rigid_box(model, {0.1, 0.2, 0.3}, pose_at({0, 10, 0}));
  model.bodies[0].velocity = {3, 4, 0};
  load(model);
  run(50);
  const BodyState body = engine->state().bodies[0];
  EXPECT_NEAR(body.velocity[1], 4 - 9.81 * 0.5, 1e-12);
  EXPECT_NEAR(body.pose.x[0], 1.5, 1e-12);
  // Semi-implicit Euler: y = v t - g t (t + dt) / 2
  EXPECT_NEAR(body.pose.x[1], 10 + 4 * 0.5 - 9.81 * 0.5 * 0.51 / 2, 1e-12);
}

TEST_P(RigidSteps, ATumblingBodyKeepsEnergyAndAngularMomentum) {
  params.gravity = 0;
  params.dt = 0.002;
  Model model;
  add_rigid_box(model, {0.1, 0.2, 0.4}, pose_at({0, 0, 0}));
  model.bodies[0].spin = {0.01, 5, 0.02};  // about the middle axis: unstable
  load(model);
  const StepReport first = engine->step();
  const StepReport last = run_unconverged(2000);
  EXPECT_NEAR(last.kinetic_energy, first.kinetic_energy, 1e-10 * first.kinetic_energy);
  EXPECT_NEAR(norm(last.angular_momentum), norm(first.angular_momentum),
              1e-10 * norm(first.angular_momentum));
  EXPECT_LT(norm(last.angular_momentum - first.angular_momentum), 0.03 * norm(first.angular_momentum));
}

TEST_P(RigidSteps, ASlidingBoxStopsAfterV2Over2MuG) {
  const double mu = 0.4, v = 3;
  params.dt = 0.001;
  Model model;
  fixtures::add_floor(model, 0, mu);
  model.half_spaces[0].mu_of_pair = true;
  add_rigid_box(model, {0.2, 0.05, 0.2}, pose_at({0, 0.05, 0}));
  model.bodies[0].velocity = {v, 0, 0};
  load(model);
  run(1200);
  const BodyState body = engine->state().bodies[0];
  EXPECT_NEAR(body.pose.x[0], v * v / (2 * mu * 9.81), 2 * v * params.dt);
  EXPECT_LT(norm(body.velocity), 1e-7);
  EXPECT_NEAR(body.pose.x[1], 0.05, 2e-4);
}

/// For any rotation of the points on its rim. (A load across the grain would reduce the friction available
/// along it.)
TEST_P(RigidSteps, ADiscSlidesAlongItsGrainWithTheGrainsMu) {
  const double v = 3;
  for (const bool plate : {false, true})
    for (const double turn : {0.0, 0.1, 0.6}) {
      Model model;
      fixtures::add_rigid(model, {fixtures::cylinder_shape(0.1, 0.025)},
                          pose_at({0, 0.025, 0}, {0, turn, 0}));
      model.materials[0].friction_kind = FrictionKind::elliptic;
      model.materials[0].mu = 0.1;
      model.materials[0].mu_across = 0.8;
      model.bodies[0].velocity = {v, 0, 0};
      model.bodies[0].grain = {std::cos(turn), 0, std::sin(turn)};
      if (plate) {
        add_rigid_box(model, {5, 0.1, 1}, pose_at({0, -0.1, 0}), false);
      } else {
        fixtures::add_floor(model, 0, 0.1);
      }
      load(model);
      run(100);
      EXPECT_NEAR(engine->state().bodies[0].velocity[0], v - 0.1 * 9.81, 1e-5) << turn << " " << plate;
    }
}

TEST_P(RigidSteps, ABoxOnAnInclineSticksOrSlidesByMu) {
  const double angle = 0.5;
  for (const double mu : {0.3, 0.8}) {
    Model model;
    model.half_spaces.push_back({{std::sin(angle), std::cos(angle), 0}, 0, mu, true});
    add_rigid_box(model, {0.2, 0.05, 0.2},
                  pose_at(0.05 * Vec3d{std::sin(angle), std::cos(angle), 0}, {0, 0, -angle}));
    load(model);
    run(100);
    const Vec3d down{std::cos(angle), -std::sin(angle), 0};
    const double expected = mu > std::tan(angle) ? 0 : 9.81 * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR(dot(engine->state().bodies[0].velocity, down), expected, 1e-6 + 1e-6 * expected) << mu;
  }
}

TEST_P(RigidSteps, ARollingSphereEndsAtFiveSeventhsOfItsSpeed) {
  Model model;
  fixtures::add_floor(model, 0, 0.5);
  add_rigid_sphere(model, 0.1, {0, 0.1, 0});
  model.bodies[0].velocity = {2, 0, 0};
  load(model);
  run(100);
  const BodyState body = engine->state().bodies[0];
  EXPECT_NEAR(body.velocity[0], 2 * 5.0 / 7, 1e-6);
  EXPECT_NEAR(body.spin[2], -2 * 5.0 / 7 / 0.1, 1e-5);
}

TEST_P(RigidSteps, ABouncingSphereRisesToRestitutionSquared) {
  params.dt = 0.001;
  Model model;
  fixtures::add_floor(model);
  add_rigid_sphere(model, 0.1, {0, 1.1, 0});
  model.materials[0].restitution = 0.5;
  load(model);
  double highest = 0;
  for (int i = 0; i < 900; ++i) {
    engine->step();
    const BodyState body = engine->state().bodies[0];
    if (i > 460) highest = std::fmax(highest, body.pose.x[1]);
  }
  EXPECT_NEAR(highest - 0.1, 0.25, 0.01);
}

TEST_P(RigidSteps, AStackStands) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 10; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  params.contact_solver = ContactSolverKind::automatic;  // sweeps converge slowly on a tower of equal boxes
  load(model);
  run(200);
  for (int i = 0; i < 10; ++i) {
    const BodyState body = engine->state().bodies[static_cast<std::size_t>(i)];
    EXPECT_NEAR(body.pose.x[1], 0.1 + 0.2 * i, 3e-3) << i;
    EXPECT_LT(std::hypot(body.pose.x[0], body.pose.x[2]), 1e-6) << i;
  }
}

TEST_P(RigidSteps, TheSolutionOfTheStepSolvesTheFrozenProblem) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 4; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0.01 * i, 0.1 + 0.2 * i, 0}));
  load(model);
  EXPECT_THROW(engine->freeze(), std::logic_error);
  run(20);
  const ContactProblem problem = engine->freeze();
  auto lab = make_contact_lab(GetParam(), 2);
  lab->load(problem);
  EXPECT_LT(lab->judge(problem.solution).residual, 1.1e-8);
  const SolveReport report = lab->solve("nsgs", LabParams{});
  EXPECT_TRUE(report.converged);
}

TEST_P(RigidSteps, PenaltiesHoldABoxWhereSpringAndWeightBalance) {
  params.penalty_stiffness = 1e5;
  params.penalty_damping = 300;
  for (const ContactSolverKind kind :
       {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit}) {
    params.contact_solver = kind;
    params.dt = kind == ContactSolverKind::penalty_explicit ? 0.0005 : 0.01;
    Model model;
    fixtures::add_floor(model);
    add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1, 0}));
    load(model);
    for (int i = 0; i * params.dt < 1; ++i) engine->step();
    // Four springs carry 8 kg.
    EXPECT_NEAR(engine->state().bodies[0].pose.x[1], 0.1 - 8 * 9.81 / (4 * params.penalty_stiffness), 2e-6)
        << static_cast<int>(kind);
    Snapshot snapshot;
    engine->snapshot(snapshot);
    ASSERT_EQ(snapshot.contacts.size(), 4u);
    EXPECT_NEAR(snapshot.contacts[0].normal_force, 2 * 9.81, 0.05) << static_cast<int>(kind);
  }
}

TEST_P(RigidSteps, NoPullIsTooStiffForABodyHeldAtItsEnd) {
  params.gravity = 0;
  for (const double dt : {0.002, 0.05})
    for (const double stiffness : {1e2, 1e5, 1e8}) {
      params.dt = dt;
      params.drag_stiffness = stiffness;
      Model model;
      const std::vector<Vec3d> nodes{{0.5, 0, 0}, {0.5, 0.02, 0}, {0.5, 0, 0.02}};
      add_rigid_box(model, {0.5, 0.02, 0.02}, pose_at({0, 0, 0}));
      model.objects[0].node_end = 3;
      model.positions = model.rest_positions = nodes;
      model.velocities.assign(3, {0, 0, 0});
      model.node_object.assign(3, 0);
      load(model);
      const Vec3d target{0.6, 0.2, 0.1};
      engine->set_drag(Drag{{0, 1, 2}, {1, 0, 0}, target});
      double fastest = 0;
      for (int i = 0; i * dt < 10; ++i) {
        engine->step();
        const BodyState body = engine->state().bodies[0];
        fastest = std::fmax(fastest, norm(body.velocity) + 0.5 * norm(body.spin));
      }
      const BodyState body = engine->state().bodies[0];
      // The point moves to the target at most in one step; the rest of the body swings for a while.
      EXPECT_LT(fastest, 4 * norm(target - nodes[0]) / dt) << dt << ' ' << stiffness;
      EXPECT_LT(norm(body.pose.apply(nodes[0]) - target), 0.02) << dt << ' ' << stiffness;
    }
  engine->set_drag(std::nullopt);
}

TEST_P(RigidSteps, InitialOverlapsSeparateWithoutALaunch) {
  params.gravity = 0;
  const Vec3d half{0.1, 0.1, 0.1};
  for (const double apart : {0.0, 0.05, 0.15}) {
    Model model;
    add_rigid_box(model, half, pose_at({0, 0, 0}));
    add_rigid_box(model, half, pose_at({apart, 0.02, 0}));
    fixtures::add_rigid_sphere(model, 0.1, {1, 0, 0});
    fixtures::add_rigid_sphere(model, 0.1, {1, apart, 0});
    load(model);
    const std::string note = engine->load_note();
    EXPECT_NE(note.find("'body "), std::string::npos) << note;
    EXPECT_NE(note.find("and so does another pair"), std::string::npos) << note;
    for (int pass = 0; pass < 2; ++pass) {  // a reset starts again
      double most = 0;
      StepReport report;
      for (int i = 0; i < 60; ++i) {
        report = engine->step();
        most = std::fmax(most, report.kinetic_energy);
      }
      // Baumgarte alone would leave 2 m/s, about 20 J.
      EXPECT_LT(most, 0.05) << apart;
      EXPECT_LT(report.contact_solve->penetration, 0.006) << apart;
      engine->reset();
    }
  }
  params.gravity = -9.81;
  Model model;
  fixtures::add_floor(model);
  add_rigid_box(model, half, pose_at({0, -0.1, 0}));
  load(model);
  EXPECT_NE(engine->load_note().find("half-space 0 overlap by 200 mm"), std::string::npos)
      << engine->load_note();
  double highest = 0;
  for (int i = 0; i < 100; ++i) {
    engine->step();
    highest = std::fmax(highest, engine->state().bodies[0].pose.x[1]);
  }
  EXPECT_LT(highest, 0.101) << "it comes up and stays";
  EXPECT_NEAR(engine->state().bodies[0].pose.x[1], 0.1, 2e-3);
}

TEST_P(RigidSteps, AStackWithSlightOverlapsHasNoNote) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 3; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.099 + 0.199 * i, 0}));
  load(model);
  EXPECT_EQ(engine->load_note(), "");
}

TEST_P(RigidSteps, ASleepingStackWakesWhenItIsHit) {
  params.sleeping = true;
  params.contact_solver = ContactSolverKind::automatic;
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 3; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  add_rigid_sphere(model, 0.1, {0, 8, 0});
  load(model);
  StepReport report = run_unconverged(100);
  EXPECT_EQ(report.contact_solve->asleep, 3);
  EXPECT_LT(report.contact_solve->residual, 1e-7);
  report = run_unconverged(30);
  EXPECT_EQ(report.contact_solve->asleep, 0);
}

TEST_P(RigidSteps, SolversTakeOverFromPenalties) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 5; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  load(model);
  run(10);
  for (const ContactSolverKind kind : {ContactSolverKind::penalty_explicit, ContactSolverKind::nncg,
                                       ContactSolverKind::penalty_implicit, ContactSolverKind::automatic}) {
    params.contact_solver = kind;
    engine->set_params(params);
    run_unconverged(3);
  }
  for (std::size_t b = 0; b < 5; ++b)
    EXPECT_NEAR(engine->state().bodies[b].pose.x[1], 0.1 + 0.2 * static_cast<double>(b), 0.01) << b;
}

TEST_P(RigidSteps, ASolverThatRefusesIsReplaced) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 5; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  params.contact_solver = ContactSolverKind::pivot_block;
  contact.pivot_rows = 10;
  load(model);
  const StepReport report = engine->step();
  EXPECT_NE(report.contact_solve->message.find("nsgs took its place"), std::string::npos)
      << report.contact_solve->message;
  EXPECT_GT(report.contact_solve->iterations, 0);
}

// A budget that no solver can keep: the message names it, and the substitute ends by what is left.
TEST_P(RigidSteps, ATimeBudgetThatEndsASolverIsNamed) {
  Model model;
  fixtures::add_floor(model);
  for (int i = 0; i < 5; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0.1 + 0.2 * i, 0}));
  params.contact_solver = ContactSolverKind::lemke;
  contact.time_budget = 1e-9;
  load(model);
  const StepReport report = engine->step();
  EXPECT_EQ(report.contact_solve->message,
            "lemke finds nothing (contact.time_budget ended it): nsgs took its place");
  EXPECT_TRUE(report.stopped_by_budget);
  EXPECT_EQ(report.contact_solve->iterations, 1);
}

TEST(SubstituteParams, HaveWhatIsLeftOfTheTimeBudget) {
  LabParams lab = stepping_lab_params();
  lab.time_budget = 0;
  EXPECT_EQ(substitute_params(lab, 3).time_budget, 0) << "no limit stays none";
  lab.time_budget = 2;
  EXPECT_EQ(substitute_params(lab, 0.5).time_budget, 1.5);
  EXPECT_EQ(substitute_params(lab, 5).time_budget, 0.4) << "a fifth";
}

INSTANTIATE_ON_BACKENDS(RigidSteps);

}  // namespace
}  // namespace stickslip
