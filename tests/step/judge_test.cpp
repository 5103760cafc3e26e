// The judge of steps: barrier steps against analysis, velocity-level steps against the judge of the contact
// solvers, and steps that are wrong.
#include <cmath>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::Vec3d;

constexpr bool kJudgesSingle = sizeof(Real) == sizeof(float);

double energy_at_end(const StepReport& report) {
  return report.kinetic_energy + report.elastic_energy + report.gravity_energy;
}

class JudgedBarrierStep : public fixtures::EngineTest {
 protected:
  JudgedBarrierStep() {
    params.dt = 0.01;
    params.newton_tolerance = kJudgesSingle ? 1e-5 : 1e-8;
    params.linear_solver = LinearSolverKind::cholesky;
  }
  static constexpr double kGravity = 9.81, kSize = 0.1, kMass = 1000 * kSize * kSize * kSize;

  /// A stiff box just above a floor with `mu`, sliding at `speed` along x.
  void load_slider(double mu, double speed, fixtures::BoxBody body, double young = 1e7) {
    Model model;
    fixtures::add_box(model, "box", {kSize, kSize, kSize}, {0, kSize / 2 + 0.5 * params.d_hat, 0}, 2, 0,
                      {speed, 0, 0}, body);
    model.materials[0].young = young;
    HalfSpace floor;
    floor.mu = mu;
    floor.mu_of_pair = true;
    model.half_spaces.push_back(floor);
    load(model);
  }
  StepReport judged() {
    const StepReport report = step();
    EXPECT_TRUE(report.judgement.has_value());
    const LawCheck law = report.judgement.value_or(StepJudgement{}).law;
    EXPECT_LE(law.momentum,
              kBalance * (law.momentum_size + law.impulse * report.contacts + kMass * kGravity * params.dt))
        << "frame " << report.frame;
    EXPECT_LE(law.friction_work, 0) << "frame " << report.frame;
    EXPECT_EQ(law.approach, 0);
    EXPECT_EQ(law.pull, 0);
    return report;
  }
  /// Momentum that is unexplained, relative to momenta and to gravity's impulse.
  static constexpr double kBalance = kJudgesSingle ? 1e-3 : 1e-6;
};

// The floor's friction is mu m g; its work is that force times the way.
TEST_P(JudgedBarrierStep, ASlidingBoxObeysTheLawUpToTheDistanceOfTheBarrier) {
  constexpr double kMu = 0.2, kSpeed = 1;
  for (const fixtures::BoxBody body : {fixtures::BoxBody::deformable, fixtures::BoxBody::affine}) {
    load_slider(kMu, kSpeed, body);
    double work = 0, change = 0, way = 0, before = 0;
    for (int i = 0; i < 40; ++i) {
      const double speed_before = engine->state().velocities[0][0];
      const StepReport report = judged();
      const StepJudgement& judgement = *report.judgement;
      const LawCheck& law = judgement.law;
      if (i == 0) before = energy_at_end(report) - judgement.energy_change;
      change += judgement.energy_change;
      work += law.friction_work;
      way += params.dt * report.momentum[0] / kMass;
      // It slides, so friction is at the edge of the cone and against the velocity.
      EXPECT_LE(law.cone, 1e-9 * law.impulse);
      EXPECT_LE(law.slip, 1e-6 * law.impulse * kSpeed);
      EXPECT_LE(law.complementarity, law.impulse * params.d_hat / params.dt);
      EXPECT_LE(judgement.error, (1 + kMu) * params.d_hat / params.dt);
      EXPECT_GT(judgement.residual, 0);
      EXPECT_NEAR(judgement.work, 0, 1e-12);
      EXPECT_NEAR(change, energy_at_end(report) - before, 1e-9);
      EXPECT_GT(speed_before, 0);
    }
    EXPECT_NEAR(work, -kMu * kMass * kGravity * way, 0.02 * kMu * kMass * kGravity * way);
    // Backward Euler dissipates, it does not create energy.
    EXPECT_LT(change, work + 0.05 * std::abs(work));
  }
}

/// The errors of single contacts are those that the judge sums up, for barriers and with multipliers.
TEST_P(JudgedBarrierStep, ContactsHaveTheErrorsOfTheJudge) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al, SolverKind::ccd_al}) {
    SCOPED_TRACE(static_cast<int>(solver));
    params.solver = solver;
    params.newton_tolerance = kJudgesSingle ? 1e-4 : 1e-6;
    load_slider(0.2, 0.5, fixtures::BoxBody::deformable);
    Snapshot snapshot;
    int checked = 0;
    for (int i = 0; i < 6; ++i) {
      const StepReport report = engine->step();
      engine->snapshot(snapshot);
      double most = 0;
      for (const ContactRecord& contact : snapshot.contacts) {
        EXPECT_GE(contact.error, 0);
        most = std::max(most, static_cast<double>(contact.error));
      }
      EXPECT_NEAR(most, report.judgement->error, 1e-6 * report.judgement->error);
      checked += !snapshot.contacts.empty() && most > 0;
    }
    EXPECT_GT(checked, 2);
  }
}

TEST_P(JudgedBarrierStep, ABoxAtRestCreepsAtEpsVAtMost) {
  load_slider(0.5, 0, fixtures::BoxBody::deformable, 1e5);
  for (int i = 0; i < 30; ++i) judged();
  const StepReport report = judged();
  const StepJudgement& judgement = *report.judgement;
  EXPECT_GT(judgement.contacts, 0);
  EXPECT_LE(judgement.law.slip, judgement.law.impulse * 0.5 * params.eps_v);
  EXPECT_GT(judgement.barrier_energy, 0);
  // The contacts carry the weight.
  EXPECT_GE(judgement.law.impulse * judgement.contacts, kMass * kGravity * params.dt);
}

TEST_P(JudgedBarrierStep, MomentumBalancesForAllRulesAndFrictionUpdates) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const TimeIntegrator rule : {TimeIntegrator::backward_euler, TimeIntegrator::newmark})
      for (const FrictionUpdate friction : {FrictionUpdate::newton, FrictionUpdate::lagged}) {
        SCOPED_TRACE(testing::Message()
                     << static_cast<int>(solver) << static_cast<int>(rule) << static_cast<int>(friction));
        params.solver = solver;
        params.time_integrator = rule;
        params.friction_update = friction;
        params.friction_lags = 3;
        load_slider(0.3, 0.5, fixtures::BoxBody::deformable, 1e5);
        engine->set_drag(Drag{{0, 1, 2}, {0.2, 0.3, 0.5}, {0.1, 0.1, 0}});
        double most = 0;
        for (int i = 0; i < 15; ++i) most = std::max(most, judged().judgement->law.impulse);
        EXPECT_GT(most, 0);
        engine->set_drag(std::nullopt);
      }
}

// Newton's method is stopped after one iteration, far from the minimiser.
TEST_P(JudgedBarrierStep, AStepThatStopsEarlyDoesNotBalance) {
  load_slider(0.3, 0.5, fixtures::BoxBody::deformable, 1e5);
  for (int i = 0; i < 3; ++i) judged();
  params.newton_iterations = 1;
  params.barrier_stiffness = 1e6;
  engine->set_params(params);
  double worst = 0;
  for (int i = 0; i < 3; ++i) {
    const StepReport report = step_unconverged();
    worst = std::max(worst, report.judgement->law.momentum / report.judgement->law.momentum_size);
  }
  EXPECT_GT(worst, 1e-3);
}

// A script pushes a box over a floor without friction: its work is the energy that the box gains.
TEST_P(JudgedBarrierStep, TheWorkOfAScriptIsTheEnergyThatTheBoxGains) {
  Model model;
  fixtures::add_box(model, "box", {kSize, kSize, kSize}, {0, 1, 0}, 2, 0, {0, 0, 0},
                    fixtures::BoxBody::affine);
  const double gap = 2 * params.d_hat;
  Object& pusher = fixtures::add_box(model, "pusher", {kSize, kSize, kSize}, {-kSize - gap, 1, 0}, 1);
  ScriptedNodes script;
  for (std::int32_t i = pusher.node_begin; i < pusher.node_end; ++i) script.nodes.push_back(i);
  script.motion.velocity = {0.3, 0, 0};
  model.scripted.push_back(script);
  model.materials[0].mu = 0;
  params.gravity = 0;
  load(model);
  double work = 0, change = 0;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    work += report.judgement->work;
    change += report.judgement->energy_change;
    EXPECT_LE(report.judgement->law.momentum, kBalance * kMass);
  }
  const double moved = 0.5 * kMass * 0.3 * 0.3;
  EXPECT_GT(change, 0.5 * moved);
  EXPECT_GE(work, change - 1e-6 * moved);
}

// Rigid bodies are affine ones here; their masses are in the judge's W, and their momentum balances.
TEST_P(JudgedBarrierStep, RigidBodiesAreJudgedToo) {
  constexpr double kMu = 0.2, kHalf = 0.05, kBodyMass = 1000 * 8 * kHalf * kHalf * kHalf;
  Model model;
  for (int i = 0; i < 2; ++i)
    fixtures::add_rigid_box(model, {kHalf, kHalf, kHalf},
                            fixtures::pose_at({0, (0.1 + kHalf) * i + kHalf, 0}));
  model.bodies[0].velocity = {1, 0, 0};
  model.bodies[1].velocity = {1, 0, 0};
  fixtures::add_floor(model, 0, kMu);
  model.materials[0].mu = kMu;
  load(model);
  double most = 0, work = 0;
  for (int i = 0; i < 30; ++i) {
    const StepReport report = step();
    ASSERT_TRUE(report.judgement.has_value());
    const StepJudgement& judgement = *report.judgement;
    const LawCheck& law = judgement.law;
    EXPECT_LE(law.momentum, 10 * kBalance * (2 * kBodyMass + law.impulse * report.contacts));
    EXPECT_LE(law.friction_work, 1e-12);
    EXPECT_TRUE(std::isfinite(judgement.residual));
    EXPECT_LE(judgement.residual, 1);
    EXPECT_LE(judgement.error, (1 + kMu) * (params.d_hat / params.dt + 2 * params.eps_v));
    most = std::max(most, law.impulse * judgement.contacts);
    work += law.friction_work;
  }
  EXPECT_GE(most, kBodyMass * kGravity * params.dt);
  EXPECT_LT(work, 0);
}

// A ball on a joint takes momentum from it, which the judge does not count as missing.
TEST_P(JudgedBarrierStep, BodiesOnJointsAreLeftOutOfTheBalance) {
  Model model;
  fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0, 1, 0}), false);
  fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0.2, 1, 0}));
  fixtures::add_ball_joint(model, 0, 1);
  load(model);
  for (int i = 0; i < 3; ++i) {
    const StepReport report = step();
    EXPECT_LE(report.judgement->law.momentum, 1e-12);
    EXPECT_TRUE(std::isnan(report.judgement->work)) << "that of joints is unknown";
  }
}

INSTANTIATE_ON_BACKENDS(JudgedBarrierStep);

class JudgedVelocityStep : public fixtures::VelocityStepTest {
 protected:
  JudgedVelocityStep() {
    contact.tolerance = 1e-6;
    contact.max_iterations = 5000;
  }
  void load_stack(double restitution) {
    Model model;
    for (int i = 0; i < 3; ++i)
      fixtures::add_rigid_box(model, {0.05, 0.05, 0.05},
                              fixtures::pose_at({0.01 * i, 0.0505 + 0.1005 * i, 0}));
    fixtures::add_rigid_sphere(model, 0.05, {0.5, 0.051, 0});
    model.bodies.back().velocity = {2, -1, 0};
    model.materials[0].restitution = restitution;
    fixtures::add_floor(model);
    finalize(model);
    load(model);
  }
};

// Both judges see the same law and the same q, by different code.
TEST_P(JudgedVelocityStep, AgreesWithTheJudgeOfTheContactSolvers) {
  for (const double restitution : {0.0, 0.5})
    for (const ContactSolverKind solver :
         {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs, ContactSolverKind::apgd}) {
      for (const int iterations : {5, 5000}) {
        params.contact_solver = solver;
        contact.max_iterations = iterations;
        load_stack(restitution);
        for (int i = 0; i < 30; ++i) {
          const StepReport report = engine->step();
          ASSERT_TRUE(report.judgement.has_value());
          if (report.contacts == 0) continue;
          const double residual = report.contact_solve->residual;
          EXPECT_NEAR(report.judgement->residual, residual, 1e-3 * residual + 1e-9)
              << "frame " << report.frame << ", solver " << static_cast<int>(solver);
          EXPECT_NEAR(report.judgement->scale, report.contact_solve->scale, 1e-9 * report.judgement->scale);
          // Friction takes energy, up to the errors e_c times the impulses.
          const double n = report.judgement->contacts;
          EXPECT_LE(report.judgement->law.friction_work,
                    1e-12 + n * report.judgement->error * report.judgement->law.impulse);
        }
      }
    }
}

TEST_P(JudgedVelocityStep, EnergiesOfAllStepsAddUp) {
  load_stack(0);
  StepReport first = engine->step();
  double energy = energy_at_end(first);
  for (int i = 0; i < 20; ++i) {
    if (i == 7) engine->set_state(engine->state());
    const StepReport report = engine->step();
    EXPECT_NEAR(report.judgement->energy_change, energy_at_end(report) - energy, 1e-12);
    EXPECT_NEAR(report.judgement->work, 0, 1e-15);
    energy = energy_at_end(report);
  }
}

// A script moves all nodes of a box and lets them go, later another one takes them. Another box is free.
TEST_P(JudgedVelocityStep, EnergyBeforeAndAfterAStepIsOfTheNodesThatAreFreeInIt) {
  constexpr double kSide = 0.1, kMass = 1000 * kSide * kSide * kSide;
  params.gravity = 0;
  params.pcg_tolerance = 1e-10;
  Model model;
  Object& box = fixtures::add_box(model, "box", {kSide, kSide, kSide}, {0, 1, 0}, 2);
  ScriptedNodes script;
  for (std::int32_t i = box.node_begin; i < box.node_end; ++i) script.nodes.push_back(i);
  script.motion.velocity = {0.3, 0, 0};
  script.end = 3 * params.dt;
  ScriptedNodes later = script;
  later.begin = 5 * params.dt;
  later.end = 1;
  model.scripted = {script, later};
  fixtures::add_box(model, "free", {kSide, kSide, kSide}, {0, 3, 0}, 2, 0, {0.2, 0, 0});
  finalize(model);
  load(model);
  for (int i = 1; i <= 7; ++i) {
    const bool both = i == 4 || i == 5;
    const StepReport report = engine->step();
    EXPECT_NEAR(report.kinetic_energy, 0.5 * kMass * (0.2 * 0.2 + (both ? 0.3 * 0.3 : 0)), 1e-9) << i;
    EXPECT_NEAR(report.judgement->energy_change, 0, 1e-9) << i;
  }
}

// Along the diagonal of the box there is more friction than the cone allows.
TEST_P(JudgedVelocityStep, BoxFrictionIsJudgedByCoulombsLaw) {
  params.contact_solver = ContactSolverKind::pgs;
  Model model;
  fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({0, 0.05, 0}));
  model.bodies.back().velocity = {1, 0, 1};
  fixtures::add_floor(model);
  finalize(model);
  load(model);
  const StepReport report = engine->step();
  EXPECT_GT(report.judgement->residual, 1e-3);
  EXPECT_GT(report.judgement->law.cone, 0.1 * report.judgement->law.impulse);
}

TEST_P(JudgedVelocityStep, PenaltyForcesFollowNoLaw) {
  params.contact_solver = ContactSolverKind::penalty_explicit;
  params.dt = 1e-4;
  load_stack(0);
  EXPECT_FALSE(engine->step().judgement.has_value());
}

INSTANTIATE_ON_BACKENDS(JudgedVelocityStep);

}  // namespace
}  // namespace stickslip
