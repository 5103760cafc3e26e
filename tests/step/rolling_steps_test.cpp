// Rolling resistance in whole steps at velocity level, against mechanics.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "gpu/contact_lab.h"
#include "gpu/dfcp/problem/rolling_rows.h"
#include "gpu/model/friction_table.h"
#include "gpu/model/rigid_body.h"
#include "gpu/model/steppers.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kRollGravity = 9.81, kRadius = 0.1, kRolling = 0.002;  // [m/s^2, m, m]

std::vector<ContactSolverKind> rolling_solver_kinds() {
  std::vector<ContactSolverKind> kinds;
  for (const ContactSolverInfo& info : contact_solver_table())
    if (info.has(SolverTrait::rolling)) kinds.push_back(info.kind);
  return kinds;
}

class RollingSteps : public fixtures::VelocityStepTest {
 protected:
  RollingSteps() {
    contact.tolerance = 1e-9;
    contact.max_iterations = 20000;
  }

  /// A ball on a plane that falls off along x at this angle [rad].
  struct RollingPlane {
    double angle = 0, rolling = kRolling, mu = 0.4, speed = 0;
    double shape_factor = 0.4;  // I / (m R^2)

    Vec3d normal() const { return {std::sin(angle), std::cos(angle), 0}; }
    Vec3d down() const { return {std::cos(angle), -std::sin(angle), 0}; }
    /// m a = m g sin - F and I a / R = F R - mu_r N for a body that rolls: its acceleration downhill.
    double acceleration() const {
      return kRollGravity * (std::sin(angle) - rolling / kRadius * std::cos(angle)) / (1 + shape_factor);
    }
    /// `z`: of the ball, whose spin is that of rolling.
    void add_ball(Model& model, double z = 0) const {
      fixtures::add_rigid_sphere(model, kRadius, kRadius * normal() + Vec3d{0, 0, z});
      model.bodies.back().velocity = speed * down();
      model.bodies.back().spin = {0, 0, -speed / kRadius};
    }
    Model ball() const {
      Model model;
      add_ball(model);
      model.materials[0].rolling_resistance = rolling;
      model.half_spaces.push_back({normal(), 0, mu, true});
      return model;
    }
  };

  void start(Model model) {
    finalize(model);
    engine = new_engine(model);
  }
  BodyState body(std::size_t index = 0) const { return engine->state().bodies[index]; }
  /// A step that the judge, which computes the law by itself, accepts, and that gains no energy.
  StepReport judged_step() {
    StepReport report = step();
    EXPECT_EQ(report.stop_reason, "converged");
    const StepJudgement& judgement = report.judgement.value();
    EXPECT_LE(judgement.residual, 5 * std::max(contact.tolerance, 1e-9)) << "frame " << report.frame;
    EXPECT_LE(judgement.law.friction_work, 0.01 * contact.tolerance);
    EXPECT_LE(judgement.energy_change, judgement.work + std::max(1e-9, 0.1 * contact.tolerance));
    return report;
  }
  void expect_rolls(double along, const Vec3d& down, double tolerance) const {
    EXPECT_LT(norm(body().velocity - along * down), tolerance);
    EXPECT_LT(norm(body().spin - Vec3d{0, 0, -along / kRadius}), tolerance / kRadius);
  }
};

TEST_P(RollingSteps, ABallSlowsDownAtTheAnalyticRateAndStays) {
  RollingPlane plane;
  plane.speed = 0.03;
  for (const ContactSolverKind solver : rolling_solver_kinds()) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    contact.tolerance = solver == ContactSolverKind::spg ? 1e-7 : 1e-9;
    start(plane.ball());
    double speed = plane.speed;
    for (int i = 0; i < 25; ++i) {
      judged_step();
      speed = std::max(0.0, speed + params.dt * plane.acceleration());
      expect_rolls(speed, plane.down(), solver == ContactSolverKind::spg ? 1e-6 : 1e-8);
      if (HasFailure()) return;
    }
    ASSERT_EQ(speed, 0);
    const Vec3d place = body().pose.x;
    for (int i = 0; i < 10; ++i) judged_step();
    EXPECT_LT(norm(body().pose.x - place), 1e-8);
  }
}

TEST_P(RollingSteps, ABallOnAnInclineStaysUpToTheAngleOfItsCoefficient) {
  for (const ContactSolverKind solver : rolling_solver_kinds())
    for (const double share : {0.5, 0.99, 1.01, 3.0}) {
      SCOPED_TRACE(std::string(contact_solver_info(solver).name) + " " + std::to_string(share));
      params.contact_solver = solver;
      contact.tolerance = solver == ContactSolverKind::spg ? 1e-7 : 1e-9;
      RollingPlane plane;
      plane.angle = std::atan(share * kRolling / kRadius);
      start(plane.ball());
      for (int i = 0; i < 10; ++i) judged_step();
      const double expected = share < 1 ? 0.0 : 10 * params.dt * plane.acceleration();
      expect_rolls(expected, plane.down(), solver == ContactSolverKind::spg ? 1e-6 : 1e-8);
      if (HasFailure()) return;
    }
}

/// Where the slope is too steep for friction, friction less the moment turns the ball.
TEST_P(RollingSteps, ASlidingBallIsTurnedByFrictionLessResistance) {
  RollingPlane plane;
  plane.angle = std::atan(3.0);
  start(plane.ball());
  for (int i = 0; i < 10; ++i) judged_step();
  const double normal = kRollGravity * std::cos(plane.angle),
               linear = kRollGravity * std::sin(plane.angle) - plane.mu * normal,
               turning = (plane.mu - kRolling / kRadius) * normal / (0.4 * kRadius);
  EXPECT_NEAR(dot(body().velocity, plane.down()), 10 * params.dt * linear, 1e-8);
  EXPECT_NEAR(body().spin[2], -10 * params.dt * turning, 1e-7);
}

/// The moments of all points of a wheel's line of contact add up to mu_r times its weight.
TEST_P(RollingSteps, AWheelSlowsDownAtTheAnalyticRate) {
  RollingPlane plane;
  plane.speed = 0.2;
  plane.shape_factor = 0.5;
  Model model;
  fixtures::add_rigid(model, {fixtures::cylinder_shape(kRadius, 0.05)},
                      fixtures::pose_at({0, kRadius, 0}, {std::numbers::pi / 2, 0, 0}));
  model.bodies[0].velocity = {plane.speed, 0, 0};
  model.bodies[0].spin = {0, 0, -plane.speed / kRadius};
  model.materials[0].rolling_resistance = kRolling;
  model.half_spaces.push_back({{0, 1, 0}, 0, plane.mu, true});
  start(model);
  for (int i = 0; i < 50; ++i) judged_step();
  expect_rolls(plane.speed + 50 * params.dt * plane.acceleration(), {1, 0, 0}, 1e-6);
}

/// By the pair's own value where [[friction]] sets one, else by the larger of both materials.
TEST_P(RollingSteps, PairsOfMaterialsHaveTheirCoefficient) {
  for (const double own : {-1.0, 0.0, 0.005}) {
    SCOPED_TRACE(own);
    RollingPlane plane;
    plane.speed = 0.2;
    plane.rolling = own < 0 ? 0.003 : own;
    Model model;
    plane.add_ball(model);
    fixtures::add_rigid_box(model, {5, 0.1, 5}, fixtures::pose_at({0, -0.1, 0}), false);
    model.materials.push_back(model.materials[0]);
    model.material_names.emplace_back("floor");
    model.objects[1].material = 1;
    model.materials[0].rolling_resistance = 0.001;
    model.materials[1].rolling_resistance = 0.003;
    if (own >= 0) model.pair_friction.push_back({1, 0, 0.4, own});
    start(model);
    for (int i = 0; i < 20; ++i) judged_step();
    expect_rolls(plane.speed + 20 * params.dt * plane.acceleration(), {1, 0, 0}, 1e-7);
  }
}

TEST_P(RollingSteps, ASpeedDependentCoefficientActsBesideIt) {
  RollingPlane plane;
  plane.speed = 0.1;
  Model model = plane.ball();
  model.materials[0].mu = 0.4;
  model.materials[0].mu_static = 0.8;
  model.materials[0].viscous_friction = 0.1;
  start(model);
  for (int i = 0; i < 20; ++i) judged_step();
  expect_rolls(plane.speed + 20 * params.dt * plane.acceleration(), {1, 0, 0}, 1e-6);
}

/// Without gravity, two balls that collide off centre: the moments are opposite.
TEST_P(RollingSteps, ACollisionKeepsMomentumAndAngularMomentum) {
  params.gravity = 0;
  params.stabilisation = Stabilisation::none;
  Model model;
  fixtures::add_rigid_sphere(model, kRadius, {0, 0, 0});
  fixtures::add_rigid_sphere(model, kRadius, {0.15, 0.13229, 0.02});
  model.bodies[0].velocity = {1, 0.2, 0};
  model.bodies[0].spin = {3, -8, 20};
  model.materials[0].rolling_resistance = 0.03;
  start(model);
  const StepReport before = engine->step();
  double most = 0;
  StepReport after;
  for (int i = 0; i < 10; ++i) {
    after = judged_step();
    Snapshot snapshot;
    engine->snapshot(snapshot);
    for (const ContactRecord& c : snapshot.contacts) most = std::max<double>(most, c.rolling_moment);
  }
  EXPECT_GT(most, 0) << "they resist rolling";
  EXPECT_LT(norm(after.momentum - before.momentum), 1e-12);
  EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 1e-10);
}

/// A scripted ball that spins turns one on top of it, without friction: the work of the script pays for that.
TEST_P(RollingSteps, ASpinningBodyTurnsAnotherAndItsScriptDoesTheWork) {
  Model model;
  fixtures::add_rigid_sphere(model, kRadius, {0, 3 * kRadius, 0});
  fixtures::add_rigid_sphere(model, kRadius, {0, kRadius, 0}, false);
  Motion motion;
  motion.center = {0, kRadius, 0};
  motion.angular_velocity = {0, 0, 5};
  model.body_motions.push_back(motion);
  model.bodies[1].motion = 0;
  model.materials[0].mu = 0;
  model.materials[0].rolling_resistance = kRolling;
  start(model);
  const double mass = 1000 * 4.0 / 3 * std::numbers::pi * std::pow(kRadius, 3),
               turning = kRolling * kRollGravity / (0.4 * kRadius * kRadius);  // [rad/s^2]
  double gained = 0, worked = 0;
  for (int i = 1; i <= 10; ++i) {
    const StepReport report = step();
    gained += report.judgement->energy_change;
    worked += report.judgement->work;
    EXPECT_NEAR(body().spin[2], i * params.dt * turning, 1e-8);
    EXPECT_LE(report.judgement->energy_change, report.judgement->work + 1e-9);
  }
  const double moment = kRolling * mass * kRollGravity, time = 10 * params.dt;
  EXPECT_NEAR(worked, moment * 5 * time, 1e-6);
  EXPECT_NEAR(gained, 0.2 * mass * kRadius * kRadius * std::pow(time * turning, 2), 1e-6);
}

TEST_P(RollingSteps, RecordsHaveTheRollingMoment) {
  RollingPlane plane;
  plane.speed = 0.2;
  start(plane.ball());
  for (int i = 0; i < 3; ++i) judged_step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  ASSERT_EQ(snapshot.contacts.size(), 1u);
  const ContactRecord& c = snapshot.contacts[0];
  const double weight = kRollGravity * 1000 * 4.0 / 3 * std::numbers::pi * std::pow(kRadius, 3);
  EXPECT_NEAR(c.normal_force, weight, 1e-4 * weight);
  EXPECT_NEAR(c.rolling_moment, kRolling * weight, 1e-4 * kRolling * weight);
  EXPECT_NEAR(c.rolling_share, 1, 1e-5);
  EXPECT_EQ(c.state, ContactState::stick) << "it rolls, and does not slide";
  EXPECT_LT(c.slip_speed, 1e-7);
  EXPECT_NEAR(norm(c.friction), weight / kRollGravity * -plane.acceleration(), 1e-4 * weight);
  EXPECT_NEAR(c.cone_share, norm(c.friction) / (plane.mu * c.normal_force), 1e-5);
  EXPECT_NEAR(c.mu, plane.mu, 1e-6);
}

/// A ball at rest keeps its moment from step to step, and the lab finds it in the frozen problem.
TEST_P(RollingSteps, FrozenProblemsHaveSiUnitsAndTheImpulsesOfTheStepBefore) {
  RollingPlane plane;
  plane.angle = std::atan(0.5 * kRolling / kRadius);
  Model model = plane.ball();
  plane.add_ball(model, 1);
  start(model);
  for (int i = 0; i < 3; ++i) judged_step();
  const ContactProblem problem = engine->freeze();
  ASSERT_EQ(problem.dim, kRollingRows);
  ASSERT_EQ(problem.contacts(), 2u);
  const double mass = 1000 * 4.0 / 3 * std::numbers::pi * std::pow(kRadius, 3),
               moment = mass * kRollGravity * std::sin(plane.angle) * kRadius * params.dt;
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(problem.laws[c].set, FrictionSet::rolling);
    EXPECT_NEAR(problem.laws[c].mu[2], kRolling, 1e-15);
    const double* r = problem.solution.data() + 5 * c;
    EXPECT_NEAR(std::hypot(r[3], r[4]), moment, 1e-6 * moment);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(problem.guess[5 * c + i], r[i], 1e-6 * (i < 3 ? r[0] : moment));
  }
  const std::unique_ptr<ContactLab> lab = make_contact_lab(backend());
  lab->load(problem);
  EXPECT_LE(lab->judge(problem.solution).residual, 10 * contact.tolerance);
  for (const ContactSolverKind solver : rolling_solver_kinds()) {
    const std::string name(contact_solver_info(solver).name);
    const SolveReport report = lab->solve(name, {});
    EXPECT_TRUE(report.converged) << name << " " << report.message;
    for (std::size_t i = 0; i < problem.size(); ++i)
      EXPECT_NEAR(report.r[i], problem.solution[i], 1e-5 * problem.solution[0]) << name << " " << i;
  }
}

/// A hinge with limits and a motor beside a ball: blocks of five rows for joints too.
TEST_P(RollingSteps, JointsMoveAsWithoutIt) {
  params.contact_solver = ContactSolverKind::automatic;
  const auto swing = [&](double rolling) {
    RollingPlane plane;
    plane.speed = 0.2;
    Model model = plane.ball();
    model.materials[0].rolling_resistance = rolling;
    for (const double z : {3.0, 6.0}) {
      const std::int32_t door =
          fixtures::add_rigid_box(model, {0.2, 0.05, 0.1}, fixtures::pose_at({0.2, 2, z}));
      Joint joint;
      joint.name = "hinge " + std::to_string(door);
      joint.kind = JointKind::hinge;
      joint.a = door;
      joint.frame_a = {{-0.2, 0, 0}, turn_of_x({0, 0, 1})};
      joint.frame_b = {{0, 2, z}, turn_of_x({0, 0, 1})};
      joint.low = -0.3;
      joint.high = 0.3;
      if (z > 4) {
        joint.motor_speed = 1;
        joint.motor_limit = 100;
      }
      model.joints.push_back(joint);
    }
    start(model);
    for (int i = 0; i < 40; ++i) step();
    return engine->state().bodies;
  };
  const std::vector<BodyState> without = swing(0), with = swing(kRolling);
  EXPECT_GT(std::fabs(with[0].velocity[0] - without[0].velocity[0]), 0.01);
  for (std::size_t b : {1, 2}) {
    EXPECT_LT(norm(with[b].pose.x - without[b].pose.x), 1e-6);
    EXPECT_LT(norm(with[b].spin - without[b].spin), 1e-5);
  }
  const ContactProblem problem = engine->freeze();
  const std::unique_ptr<ContactLab> lab = make_contact_lab(backend());
  lab->load(problem);
  EXPECT_LE(lab->judge(problem.solution).residual, 1e-6);
}

TEST_P(RollingSteps, OtherSolversLeaveItToNsgsAndNameThoseThatTakeIt) {
  RollingPlane plane;
  plane.speed = 0.2;
  int refused = 0;
  for (const ContactSolverInfo& info : contact_solver_table()) {
    if (info.has(SolverTrait::rolling) || info.has(SolverTrait::forces)) continue;
    SCOPED_TRACE(std::string(info.name));
    params.contact_solver = info.kind;
    start(plane.ball());
    StepReport report;
    for (int i = 0; i < 5; ++i) report = step();
    const std::string& message = report.contact_solve->message;
    EXPECT_TRUE(message.starts_with(std::string(info.name) + " refuses")) << message;
    EXPECT_NE(message.find("nsgs took its place"), std::string::npos) << message;
    for (const ContactSolverKind taker : rolling_solver_kinds())
      EXPECT_NE(message.find(contact_solver_info(taker).name), std::string::npos) << message;
    expect_rolls(plane.speed + 5 * params.dt * plane.acceleration(), {1, 0, 0}, 1e-8);
    ++refused;
  }
  EXPECT_GT(refused, 5);
}

std::vector<double> numbers_of(const State& state) {
  std::vector<double> out;
  for (const BodyState& b : state.bodies)
    for (int i = 0; i < 3; ++i) out.insert(out.end(), {b.pose.x[i], b.pose.q.v[i], b.velocity[i], b.spin[i]});
  return out;
}

/// A pair's coefficient of zero is none: blocks have three rows, and results are the same to the last bit.
/// So are those of penalty forces, which have no moments.
TEST_P(RollingSteps, WithoutAnyCoefficientNothingChanges) {
  for (const ContactSolverKind solver :
       {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs, ContactSolverKind::penalty_explicit,
        ContactSolverKind::penalty_implicit}) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    const bool penalty = contact_solver_info(solver).has(SolverTrait::forces);
    std::vector<std::vector<double>> seen;
    for (const int kind : {0, 1, 2}) {
      RollingPlane plane;
      plane.speed = 0.2;
      plane.rolling = 0;
      Model model = plane.ball();
      for (int i = 0; i < 3; ++i)
        fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({0, 0.1 + 0.2 * i, 1}));
      const std::vector<Material> plain = model.materials;
      if (kind == 1) model.pair_friction.push_back({0, 0, model.materials[0].mu, penalty ? 0.01 : 0.0});
      if (kind == 2) model.materials[0].rolling_resistance = 0.01;
      start(model);
      if (kind == 2 && !penalty) engine->set_materials(plain);
      for (int i = 0; i < 20; ++i) engine->step();
      seen.push_back(numbers_of(engine->state()));
      if (!penalty) {
        EXPECT_EQ(engine->freeze().dim, 3);
      }
    }
    EXPECT_EQ(seen[1], seen[0]);
    EXPECT_EQ(seen[2], seen[0]);
  }
}

/// It may be edited while the scene runs.
TEST_P(RollingSteps, ItStartsAndEndsWithAnEdit) {
  RollingPlane plane;
  plane.speed = 0.3;
  Model model = plane.ball();
  Material free = model.materials[0], rough = free;
  free.rolling_resistance = 0;
  model.materials[0] = free;
  start(model);
  double speed = plane.speed;
  for (const bool resists : {false, true, false}) {
    engine->set_materials({resists ? rough : free});
    for (int i = 0; i < 10; ++i) {
      judged_step();
      if (resists) speed += params.dt * plane.acceleration();
    }
    expect_rolls(speed, {1, 0, 0}, 1e-7);
  }
}

/// Points of elastic solids have no spin: a ball rolls on them without resistance, and beside them with it.
TEST_P(RollingSteps, BesideElasticSolids) {
  contact.max_iterations = 500;
  params.pcg_tolerance = 1e-10;
  for (const SolidCoupling coupling :
       {SolidCoupling::rounds, SolidCoupling::nodal_admm, SolidCoupling::ica}) {
    SCOPED_TRACE(static_cast<int>(coupling));
    params.coupling = coupling;
    params.admm_tolerance = coupling == SolidCoupling::ica ? 1e-11 : 1e-9;  // ica changes v by less and less
    params.admm_iterations = 20000;
    const bool is_admm = coupling != SolidCoupling::rounds;
    contact.tolerance = is_admm ? 1e-5 : 1e-7;  // residuals of ADMM vary between those
    RollingPlane plane;
    plane.speed = 0.2;
    Model model = plane.ball();
    fixtures::add_box(model, "block", {0.4, 0.1, 0.4}, {0, 0.05, 2}, 2);
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.02;
    plane.add_ball(model, 2);
    model.bodies[1].pose.x[1] += 0.1;
    model.bodies[1].velocity = {0, 0, 0};
    model.bodies[1].spin = {0, 0, 0};
    start(model);
    for (int i = 0; i < 20; ++i) step();
    expect_rolls(plane.speed + 20 * params.dt * plane.acceleration(), {1, 0, 0}, is_admm ? 1e-4 : 1e-5);
    EXPECT_LT(norm(body(1).velocity), 0.05);
    const ContactProblem problem = engine->freeze();
    EXPECT_EQ(problem.dim, kRollingRows);
    const std::unique_ptr<ContactLab> lab = make_contact_lab(backend());
    lab->load(problem);
    EXPECT_LE(lab->judge(problem.solution).residual, 1e-4);
  }
}

/// So do points whose nodes are all held: they have no mass of their own, as fixed rigid bodies have none.
TEST_P(RollingSteps, OnAHeldSolidABallKeepsItsSpeed) {
  contact.tolerance = 1e-7;
  params.pcg_tolerance = 1e-10;
  for (const double speed : {0.2, -0.2}) {
    RollingPlane plane;
    plane.speed = speed;
    plane.rolling = 0.01;
    Model model = plane.ball();
    fixtures::add_box(model, "block", {0.6, 0.1, 0.4}, {0, 0.05, 2}, 3);
    ScriptedNodes held;
    for (std::size_t i = 0; i < model.positions.size(); ++i)
      held.nodes.push_back(static_cast<std::int32_t>(i));
    model.scripted.push_back(held);
    plane.add_ball(model, 2);
    model.bodies[1].pose.x[1] += 0.1;
    start(model);
    for (int i = 0; i < 20; ++i) step();
    // The resistance of the plane slows the first ball down by a third.
    if (speed > 0) expect_rolls(speed + 20 * params.dt * plane.acceleration(), {1, 0, 0}, 1e-5);
    EXPECT_LT(norm(body(1).velocity - Vec3d{speed, 0, 0}), 1e-3 * std::fabs(speed));
    EXPECT_LT(norm(body(1).spin - Vec3d{0, 0, -speed / kRadius}), 1e-3 * std::fabs(speed) / kRadius);
  }
}

TEST_P(RollingSteps, RefusesWhatItsRowsCannotHold) {
  RollingPlane plane;
  const auto fault_of = [&](const auto& change) -> std::string {
    Model model = plane.ball();
    model.materials.emplace_back();
    model.material_names.emplace_back("other");
    change(model.materials[1]);
    start(model);
    try {
      engine->step();
    } catch (const SimulationError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(fault_of([](Material&) {}), "");
  EXPECT_NE(fault_of([](Material& m) { m.torsion_radius = 0.01; }).find("torsion_radius of 'other'"),
            std::string::npos);
  for (const FrictionKind kind : {FrictionKind::elliptic, FrictionKind::matchstick, FrictionKind::tensor})
    EXPECT_NE(fault_of([&](Material& m) { m.friction_kind = kind; }).find("friction_kind of 'other'"),
              std::string::npos);
  Model model = plane.ball();
  model.pair_friction.push_back({0, 0, 0.4, std::nan("")});
  EXPECT_THROW(finalize(model), std::invalid_argument);
}

TEST_P(RollingSteps, BarrierStepsHaveNone) {
  Model model = RollingPlane{}.ball();
  model.pair_friction.push_back({0, 0, 0.4, 0.001});
  finalize(model);
  const std::vector<std::string> ignored = ignored_by_barrier(model);
  EXPECT_EQ(std::ranges::count_if(ignored, [](const auto& s) { return s.starts_with("rolling resistance"); }),
            2);
}

TEST(RollingTable, HasTheLargerOfBothOrThatOfThePair) {
  Model model;
  model.materials.resize(3);
  model.half_spaces.push_back({{0, 1, 0}, 0, 0.3});
  EXPECT_TRUE(rolling_coefficients(model).empty());
  model.materials[1].rolling_resistance = 0.1;
  model.materials[2].rolling_resistance = 0.3;
  model.pair_friction.push_back({2, 0, 0.3});
  model.pair_friction.push_back({1, 2, 0.3, 0.2});
  EXPECT_EQ(rolling_coefficients(model),
            (std::vector<double>{0, 0.1, 0.3, 0, 0.1, 0.1, 0.2, 0.1, 0.3, 0.2, 0.3, 0.3}));
}

INSTANTIATE_ON_BACKENDS(RollingSteps);

}  // namespace
}  // namespace stickslip
