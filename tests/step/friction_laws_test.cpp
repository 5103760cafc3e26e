// Laws of friction beyond one coefficient, in whole steps at velocity level, against analysis.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "gpu/model/rigid_body.h"
#include "gpu/model/steppers.h"
#include "tests/fixtures/box_model.h"
#include "tests/step/friction_slope.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

class FrictionLaws : public fixtures::FrictionSlopeTest {};

Material sticky() {
  Material m;
  m.mu = 0.3;
  m.mu_static = 0.6;
  m.stribeck_speed = 1e-3;
  return m;
}
/// Against a half-space, which has mu alone, ratios are square roots.
constexpr double kPairStatic = 0.42426406871192851;  // 0.3 sqrt(0.6 / 0.3)

/// Between both angles of friction a brick at rest stays, and one that slides goes on.
TEST_P(FrictionLaws, BetweenStaticAndKineticFrictionHistoryDecides) {
  const double angle = std::atan(0.5 * (0.3 + kPairStatic));
  for (const ContactSolverKind solver : {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs,
                                         ContactSolverKind::newton_ac, ContactSolverKind::apgd}) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    start(slope_of(angle).model(sticky()));
    judged_steps(40);
    EXPECT_LT(norm(body().velocity), 1e-6);
    const Slope pushed = slope_of(angle, 0.1);
    start(pushed.model(sticky()));
    EXPECT_NEAR(acceleration(pushed.down(), 40), kGravity * (std::sin(angle) - 0.3 * std::cos(angle)), 1e-4);
  }
}

TEST_P(FrictionLaws, ARestingBrickStartsAboveTheStaticAngleOnly) {
  start(slope_of(std::atan(0.99 * kPairStatic)).model(sticky()));
  judged_steps(50);
  EXPECT_LT(norm(body().velocity), 1e-6);
  // The step in which sticking ends has a solution at rest that is nearly one: rounds are many.
  params.friction_rounds = 200;
  const double angle = std::atan(1.02 * kPairStatic);
  const Slope above = slope_of(angle);
  start(above.model(sticky()));
  judged_steps(50);
  const double fast = kGravity * (std::sin(angle) - 0.3 * std::cos(angle));
  EXPECT_GT(dot(above.down(), body().velocity), 0.9 * fast * 50 * params.dt);
  EXPECT_NEAR(acceleration(above.down(), 20), fast, 1e-4);
}

/// Backward Euler of m v' = -m g mu(v), whose root is found by bisection.
double stribeck_speed_after(const Material& m, double v, int steps, double dt) {
  const double ratio = std::sqrt(m.mu_static / m.mu);
  for (int i = 0; i < steps; ++i) {
    double low = 0, high = v;
    for (int k = 0; k < 200; ++k) {
      const double s = 0.5 * (low + high), x = s / m.stribeck_speed;
      const double mu = m.mu * (1 + (ratio - 1) * std::exp(-x * x)) + m.viscous_friction * s;
      (s + dt * fixtures::kSlopeGravity * mu < v ? low : high) = s;
    }
    v = 0.5 * (low + high);
  }
  return v;
}

TEST_P(FrictionLaws, CoefficientsFollowStribecksCurveAndItsViscousPart) {
  Material m = sticky();
  m.stribeck_speed = 0.2;
  // With the long step, friction grows by more than it may for plain rounds: g dt viscous > 1.
  for (const auto& [viscous, dt] : {std::pair{0.0, 1e-3}, {0.5, 1e-3}, {8.0, 0.02}}) {
    m.viscous_friction = viscous;
    params.dt = dt;
    const Slope flat = slope_of(0, 0.5);
    start(flat.model(m));
    const int steps = dt < 0.01 ? 60 : 4;
    judged_steps(steps);
    EXPECT_NEAR(body().velocity[0], stribeck_speed_after(m, 0.5, steps, dt), 1e-6) << viscous;
  }
}

/// With one round the coefficient is that of the speed at the start, and the step is not reported as solved.
TEST_P(FrictionLaws, AStepWhoseCoefficientsHaveNotSettledHasNotConverged) {
  Material m = sticky();
  m.stribeck_speed = 0.2;
  params.friction_rounds = 0;
  start(slope_of(0, 0.2).model(m));
  const StepReport report = engine->step();
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.stop_reason, "friction coefficients do not settle");
  EXPECT_LE(report.contact_solve->residual, contact.tolerance);
  EXPECT_GT(report.contact_solve->friction_change, contact.tolerance);
  EXPECT_GT(report.judgement->residual, 10 * contact.tolerance);
}

TEST_P(FrictionLaws, FrozenProblemsCarryTheCoefficientsInUse) {
  Material m = sticky();
  m.stribeck_speed = 0.2;
  const Slope flat = slope_of(0, 0.2);
  start(flat.model(m));
  judged_steps(3);
  const double s = body().velocity[0], x = s / m.stribeck_speed;
  const ContactProblem frozen = engine->freeze();
  ASSERT_EQ(frozen.laws.size(), 4u);
  for (const BlockLaw& law : frozen.laws)
    EXPECT_NEAR(law.mu[0], 0.3 + (kPairStatic - 0.3) * std::exp(-x * x), 1e-7);
}

BodyPart brick_part(const Vec3d& half) {
  BodyPart part = make_part(ShapeKind::box, half);
  part.nodes = {{0, 0, 0}, {half[0], 0, 0}, {0, 0, half[2]}};
  part.triangles = {{0, 1, 2}};
  return part;
}

/// A brick on a spring whose other end moves at a constant speed. The spring holds a light knob, fixed to the
/// brick: its damper, critical for the knob alone, is weak for both.
class StickSlip : public FrictionLaws {
 protected:
  static constexpr double kKnob = 4e-3, kStiffness = 100, kSpeed = 0.1, kMass = 1;

  void load_oscillator(const Material& material) {
    Model model;
    model.material_names = {"brick"};
    model.materials = {material};
    const Vec3d half{0.1, 0.02, 0.1};
    BodyStart start;
    start.pose.x = {0, half[1], 0};
    start.mass = kMass - kKnob;
    add_body(model, "brick", assemble({brick_part(half)}), 0, start);
    BodyStart knob;
    knob.pose.x = {0, half[1], 0};
    knob.mass = kKnob;
    add_body(model, "knob", assemble({brick_part({0.01, 0.01, 0.01})}), 0, knob);
    Joint joint;
    joint.name = "held";
    joint.kind = JointKind::fixed;
    joint.a = 0;
    joint.b = 1;
    add_joint(model, joint, {{0, half[1], 0}, turn_of_x({1, 0, 0})});
    node_ = model.objects[1].node_begin;
    model.half_spaces.push_back({{0, 1, 0}, 0, material.mu});
    finalize(model);
    params.drag_stiffness = kStiffness;
    engine = new_engine(model);
  }
  void pull(double end) {
    Drag drag;
    drag.triangle = {node_, node_ + 1, node_ + 2};
    drag.target = {end, 0.02, 0};
    engine->set_drag(drag);
  }

 private:
  std::int32_t node_ = 0;
};

/// The stick-slip cycle of m x'' = k (V t - x) - c x' - friction, integrated by Runge-Kutta's method in steps
/// of a microsecond, with a jump from static to kinetic friction.
struct Cycle {
  double period, slip;  // [s], [m]
};
Cycle reference_cycle(double m, double k, double c, double speed, double mu_static, double mu) {
  const double load = m * fixtures::kSlopeGravity, dt = 1e-6;
  const auto acceleration = [&](double stretch, double v) { return (k * stretch - c * v - mu * load) / m; };
  double stretch = mu_static * load / k, v = 0, slip = 0, time = 0;
  do {
    const double a1 = acceleration(stretch, v), y1 = speed - v, v2 = v + 0.5 * dt * a1,
                 a2 = acceleration(stretch + 0.5 * dt * y1, v2), y2 = speed - v2;
    v += dt * a2;
    stretch += dt * y2;
    slip += dt * v2;
    time += dt;
  } while (v > 0);
  return {time + (mu_static * load / k - stretch) / speed, slip};
}

TEST_P(StickSlip, HasTheAnalyticPeriodAndAmplitude) {
  Material m = sticky();
  m.stribeck_speed = 1e-3;
  params.dt = 5e-4;
  contact.tolerance = 1e-7;
  load_oscillator(m);
  // The mouse's spring is implicit for the knob alone (mouse_spring.cu), which here does not yield: the
  // spring is softer by this factor, and the damper contains the implicit part.
  const double damper = 2 * std::sqrt(kStiffness * kKnob),
               soft = params.dt * (params.dt * kStiffness + damper), factor = 1 / (1 + soft / kKnob),
               stiffness = factor * kStiffness;
  const Cycle want = reference_cycle(kMass, stiffness, factor * soft / params.dt, kSpeed, kPairStatic, 0.3);
  // Without damper the brick slips for half a period of the free oscillation, and a little more.
  const double omega = std::sqrt(stiffness / kMass),
               jump = (kPairStatic - 0.3) * kGravity * kMass / stiffness;
  EXPECT_NEAR(want.slip, 2 * jump + std::numbers::pi * kSpeed / omega, 0.2 * want.slip);
  std::vector<double> starts, rests;
  bool slid = false;
  for (int i = 0; starts.size() < 4; ++i) {
    ASSERT_LT(i, 20000);
    pull(kSpeed * (i + 1) * params.dt);
    const StepReport report = engine->step();
    ASSERT_TRUE(report.converged) << report.frame << ": " << report.stop_reason;
    ASSERT_LE(report.judgement->residual, 5 * contact.tolerance) << report.frame;
    const bool slides = body().velocity[0] > 5e-3;
    if (slides && !slid) {
      starts.push_back(i * params.dt);
      rests.push_back(body().pose.x[0]);
    }
    slid = slides;
  }
  for (std::size_t k = 1; k + 1 < starts.size(); ++k) {
    EXPECT_NEAR(starts[k + 1] - starts[k], want.period, 0.02 * want.period);
    EXPECT_NEAR(rests[k + 1] - rests[k], want.slip, 0.02 * want.slip);
  }
}

TEST_P(FrictionLaws, TrescaFrictionDoesNotDependOnTheLoad) {
  Material m;
  m.mu = 0.05;  // not in use
  m.tresca = 1.5;
  const double mass = 1000 * 8 * 0.2 * 0.02 * 0.2, points = 4;
  for (const ContactSolverKind solver : {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs}) {
    params.contact_solver = solver;
    for (const double angle : {0.3, 0.8}) {
      const Slope slope = slope_of(angle, 0.1);
      start(slope.model(m));
      judged_steps(2);
      EXPECT_NEAR(acceleration(slope.down(), 30), kGravity * std::sin(angle) - points * m.tresca / mass, 1e-5)
          << angle;
    }
  }
  // At rest up to m g sin(angle) = n tresca. (Where sticking just ends, manifold_gs may need more rounds.)
  params.contact_solver = ContactSolverKind::nsgs;
  const double most = std::asin(points * m.tresca / (mass * kGravity));
  start(slope_of(0.98 * most).model(m));
  judged_steps(40);
  EXPECT_LT(norm(body().velocity), 1e-6);
  const Slope above = slope_of(1.02 * most);
  start(above.model(m));
  judged_steps(40);
  EXPECT_NEAR(dot(above.down(), body().velocity),
              (kGravity * std::sin(above.angle) - points * m.tresca / mass) * 40 * params.dt, 2e-5);
}

/// A sphere that hits a floor with spin: v_T, omega and the impulse are those of Eq. 219b.
TEST_P(FrictionLaws, ASuperballReboundsWithReversedSlip) {
  const double radius = 0.05, mass = 1000 * 4.0 / 3 * std::numbers::pi * radius * radius * radius;
  params.gravity = 0;
  for (const ContactSolverKind solver : exact_solvers())
    for (const double mu : {10.0, 0.1})
      for (const double tangential : {-1.0, -0.4, 0.0, 0.5, 1.0}) {
        SCOPED_TRACE(std::string(contact_solver_info(solver).name));
        params.contact_solver = solver;
        Model model;
        fixtures::add_rigid_sphere(model, radius, {0, radius, 0});
        model.bodies[0].velocity = {1.5, -2, 0.3};
        model.bodies[0].spin = {4, 7, -6};
        model.materials[0].mu = mu;
        model.materials[0].restitution = 0.8;
        model.materials[0].tangential_restitution = tangential;
        model.half_spaces.push_back({{0, 1, 0}, 0, mu});
        start(model);
        const Vec3d v = body().velocity, w = body().spin;
        judged_step();
        const Vec3d arm{0, -radius, 0}, slip = v - Vec3d{0, v[1], 0} + cross(w, arm);
        const double effective = 2.0 / 7 * mass, normal = mass * 1.8 * 2;
        Vec3d friction = -effective * (1 + tangential) * slip;
        if (norm(friction) > mu * normal) friction = (mu * normal / norm(friction)) * friction;
        const Vec3d want = v + Vec3d{0, normal / mass, 0} + friction / mass,
                    spin = w + cross(arm, friction) / (0.4 * mass * radius * radius);
        EXPECT_LT(norm(body().velocity - want), 1e-6) << mu << ' ' << tangential;
        EXPECT_LT(norm(body().spin - spin), 1e-4) << mu << ' ' << tangential;
      }
}

TEST_P(FrictionLaws, OnlyImpactsReverseSlip) {
  Material m;
  m.mu = 0.3;
  m.tangential_restitution = 1;
  const Slope flat = slope_of(0, 0.5);
  start(flat.model(m));
  EXPECT_NEAR(acceleration({1, 0, 0}, 20), -0.3 * kGravity, 1e-5);
}

TEST_P(FrictionLaws, BarrierStepsRefuseThem) {
  Material m = sticky();
  m.viscous_friction = 0.1;
  m.tresca = 1;
  m.tangential_restitution = 0.5;
  m.friction_kind = FrictionKind::tensor;
  Model model = Slope{}.model(m);
  finalize(model);
  const std::vector<std::string> ignored = ignored_by_barrier(model);
  for (const char* what : {"static friction", "viscous friction", "Tresca friction", "tangential restitution",
                           "the friction tensor"})
    EXPECT_TRUE(std::ranges::any_of(ignored, [&](const std::string& s) { return s.starts_with(what); }))
        << what;
}

/// A stiff elastic block beside rigid bodies: the same coefficients, found in rounds around the coupling.
TEST_P(FrictionLaws, ElasticSolidsHaveThem) {
  Material m = sticky();
  m.stribeck_speed = 0.2;
  m.young = 1e6;
  params.dt = 2e-3;
  contact.tolerance = 1e-5;
  Model model;
  fixtures::add_box(model, "block", {0.2, 0.1, 0.2}, {0, 0.05, 0}, 1, 0, {0.4, 0, 0});
  fixtures::add_rigid_box(model, {0.05, 0.05, 0.05}, fixtures::pose_at({5, 0.05, 0}));
  model.materials[0] = m;
  model.half_spaces.push_back({{0, 1, 0}, 0, m.mu});
  finalize(model);
  engine = new_engine(model);
  int rounds = 0;
  for (int i = 0; i < 30; ++i) {
    const StepReport report = engine->step();
    EXPECT_TRUE(report.converged) << report.frame << ": " << report.stop_reason;
    rounds += report.contact_solve->friction_rounds;
  }
  EXPECT_GT(rounds, 30);
  const State state = engine->state();
  const double speed = fixtures::mean(state.velocities, 0, static_cast<int>(state.velocities.size()))[0];
  EXPECT_NEAR(speed, stribeck_speed_after(m, 0.4, 30, params.dt), 0.01);
}

INSTANTIATE_ON_BACKENDS(FrictionLaws);
INSTANTIATE_ON_BACKENDS(StickSlip);

}  // namespace
}  // namespace stickslip
