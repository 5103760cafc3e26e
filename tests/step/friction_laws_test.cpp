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
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kGravity = 9.81;

/// Solvers that find Coulomb's law of rigid bodies by themselves or with de_saxce.
std::vector<ContactSolverKind> exact_solvers() {
  std::vector<ContactSolverKind> out;
  for (const ContactSolverInfo& row : contact_solver_table())
    if (row.law == "exact" || row.law == "associated") out.push_back(row.kind);
  return out;
}

class FrictionLaws : public fixtures::VelocityStepTest {
 protected:
  FrictionLaws() {
    params.dt = 1e-3;
    contact.tolerance = 1e-8;
    contact.max_iterations = 10000;
  }

  /// A flat brick of this material on an incline, whose friction is that of the brick. Downhill is `down()`.
  struct Slope {
    double angle = 0;
    Vec3d velocity{0, 0, 0};

    Vec3d normal() const { return {std::sin(angle), std::cos(angle), 0}; }
    Vec3d down() const { return {std::cos(angle), -std::sin(angle), 0}; }
    Model model(const Material& material) const {
      Model model;
      const Vec3d half{0.2, 0.02, 0.2};
      fixtures::add_rigid_box(model, half, fixtures::pose_at(half[1] * normal(), {0, 0, -angle}));
      model.bodies[0].velocity = velocity;
      model.materials[0] = material;
      model.half_spaces.push_back({normal(), 0, material.mu});
      return model;
    }
  };
  static Slope slope_of(double angle, double speed = 0) {
    Slope slope{angle};
    slope.velocity = speed * slope.down();
    return slope;
  }
  void start(Model model) {
    finalize(model);
    engine = new_engine(model);
  }
  /// Steps, and requires that the judge, which evaluates the law by itself, agrees.
  StepReport judged_step() {
    StepReport report = step();
    EXPECT_EQ(report.stop_reason, "converged");
    EXPECT_TRUE(report.judgement.has_value());
    EXPECT_LE(report.judgement->residual, 5 * contact.tolerance) << "frame " << report.frame;
    return report;
  }
  void judged_steps(int count) {
    for (int i = 0; i < count; ++i) judged_step();
  }
  BodyState body(std::size_t index = 0) const { return engine->state().bodies[index]; }
  /// Acceleration along `direction` over so many steps.
  double acceleration(const Vec3d& direction, int steps) {
    const double before = dot(direction, body().velocity);
    judged_steps(steps);
    return (dot(direction, body().velocity) - before) / (steps * params.dt);
  }
};

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
      (s + dt * kGravity * mu < v ? low : high) = s;
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
  const double load = m * kGravity, dt = 1e-6;
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

/// Two plates of matchsticks that cross at a right angle have the third coefficient in every direction.
TEST_P(FrictionLaws, CrossedMatchsticksHaveTheirOwnCoefficient) {
  for (const double crossed : {0.0, 0.15}) {
    Model model;
    fixtures::add_rigid_box(model, {2, 0.05, 2}, fixtures::pose_at({0, -0.05, 0}), false);
    fixtures::add_rigid_box(model, {0.2, 0.02, 0.2},
                            fixtures::pose_at({0, 0.02, 0}, {0, std::numbers::pi / 2, 0}));
    model.materials[0].friction_kind = FrictionKind::matchstick;
    model.materials[0].mu = 0.2;
    model.materials[0].mu_across = 0.8;
    model.materials[0].mu_crossed = crossed;
    const Vec3d direction = normalized(Vec3d{1, 0, 0.4});
    model.bodies[1].velocity = 2 * direction;
    start(model);
    const double before = dot(direction, body(1).velocity);
    judged_steps(30);
    const double rate = (before - dot(direction, body(1).velocity)) / (30 * params.dt);
    EXPECT_NEAR(rate, kGravity * (crossed > 0 ? crossed : std::sqrt(0.2 * 0.8)), 1e-5);
  }
}

Material tensor_material(double along, double across, double skew) {
  Material m;
  m.friction_kind = FrictionKind::tensor;
  m.mu = along;
  m.mu_across = across;
  m.mu_skew = skew;
  return m;
}

/// m v' = -m g L v / |v| [Course Eq.320] by the midpoint rule in steps of 10 microseconds, in the plane (x,
/// z) of a floor. The normal of the contact is y, a's outward normal -y, and its grain x: the skew part turns
/// friction about -y, from x to z.
struct PlaneMotion {
  double x, z, vx, vz;
};
PlaneMotion integrate_tensor(const Material& m, PlaneMotion s, double time) {
  const double dt = 1e-5;
  const auto rate = [&](double vx, double vz, double& ax, double& az) {
    const double speed = std::sqrt(vx * vx + vz * vz), dx = vx / speed, dz = vz / speed;
    ax = -kGravity * (m.mu * dx - m.mu_skew * dz);
    az = -kGravity * (m.mu_across * dz + m.mu_skew * dx);
  };
  for (int i = 0; i < static_cast<int>(std::lround(time / dt)); ++i) {
    double ax, az;
    rate(s.vx, s.vz, ax, az);
    const double hx = s.vx + 0.5 * dt * ax, hz = s.vz + 0.5 * dt * az;
    rate(hx, hz, ax, az);
    s = {s.x + dt * hx, s.z + dt * hz, s.vx + dt * ax, s.vz + dt * az};
  }
  return s;
}

TEST_P(FrictionLaws, ABrickCurvesAsItsTensorSays) {
  params.dt = 5e-4;
  for (const ContactSolverKind solver : {ContactSolverKind::nsgs, ContactSolverKind::manifold_gs})
    for (const double skew : {0.0, 0.15, -0.3}) {
      params.contact_solver = solver;
      const Material m = tensor_material(0.2, 0.6, skew);
      Slope flat;
      flat.velocity = {1, 0, 1};
      start(flat.model(m));
      const PlaneMotion want = integrate_tensor(m, {0, 0, 1, 1}, 0.15);
      double energy = 2;
      for (int i = 0; i < 300; ++i) {
        judged_step();
        const double now = norm2(body().velocity);
        ASSERT_LT(now, energy) << "friction dissipates";
        energy = now;
      }
      EXPECT_NEAR(body().velocity[0], want.vx, 3e-3) << skew;
      EXPECT_NEAR(body().velocity[2], want.vz, 3e-3) << skew;
      EXPECT_NEAR(body().pose.x[0], want.x, 1e-3) << skew;
      EXPECT_NEAR(body().pose.x[2], want.z, 1e-3) << skew;
      EXPECT_GT(std::fabs(want.vx - want.vz), 0.1) << "the way is no straight line";
    }
}

TEST_P(FrictionLaws, ATensorIsCoulombsLawOrTheEllipseWhereItShould) {
  const auto end = [&](const Material& m, const Vec3d& velocity) {
    Slope flat;
    flat.velocity = velocity;
    start(flat.model(m));
    judged_steps(60);
    return body().velocity;
  };
  Material plain;
  plain.mu = 0.4;
  const Vec3d oblique{0.7, 0, -0.5};
  EXPECT_LT(norm(end(tensor_material(0.4, 0.4, 0), oblique) - end(plain, oblique)), 1e-6);
  // Against a half-space the ratio of an elliptic law is a square root, see surface_pair.
  Material ellipse = plain;
  ellipse.mu = 0.2;
  ellipse.friction_kind = FrictionKind::elliptic;
  ellipse.mu_across = 0.8;
  for (const Vec3d& along : {Vec3d{0.8, 0, 0}, Vec3d{0, 0, -0.8}})
    EXPECT_LT(norm(end(tensor_material(0.2, 0.4, 0), along) - end(ellipse, along)), 1e-6);
  EXPECT_GT(norm(end(tensor_material(0.2, 0.4, 0), oblique) - end(ellipse, oblique)), 1e-3);
}

/// It sticks within the ellipse of Eq. 324, here along the grain and across it.
TEST_P(FrictionLaws, ATensorSticksWithinItsEllipse) {
  const double skew = 0.2, along = 0.3, across = 0.5, det = along * across + skew * skew;
  // f' L^-T L^-1 f = 1 along the grain.
  const double most = det / std::sqrt(across * across + skew * skew);
  for (const double share : {0.98, 1.03}) {
    const Slope slope = slope_of(std::atan(share * most));
    start(slope.model(tensor_material(along, across, skew)));
    judged_steps(100);
    if (share < 1) EXPECT_LT(norm(body().velocity), 1e-6);
    else EXPECT_GT(norm(body().velocity), 5e-3);
  }
}

TEST_P(FrictionLaws, BoxFrictionLeavesTensorsToAnotherSolver) {
  params.contact_solver = ContactSolverKind::pgs;
  Slope flat;
  flat.velocity = {1, 0, 1};
  start(flat.model(tensor_material(0.2, 0.6, 0.1)));
  const StepReport report = step();
  EXPECT_NE(report.contact_solve->message.find("pgs refuses"), std::string::npos);
}

TEST_P(FrictionLaws, RefusesSingularTensors) {
  const auto refused = [](const Material& m) {
    Model model = Slope{}.model(m);
    try {
      finalize(model);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(tensor_material(0.2, 0.1, 3)), "");
  EXPECT_NE(refused(tensor_material(0.2, 0, 3)).find("singular"), std::string::npos);
  EXPECT_NE(refused(tensor_material(0, 0.2, 0)).find("singular"), std::string::npos);
  Material torsion = tensor_material(0.2, 0.1, 0);
  torsion.torsion_radius = 0.1;
  EXPECT_NE(refused(torsion).find("torsion"), std::string::npos);
  // Edited while the scene runs.
  start(Slope{}.model(tensor_material(0.2, 0.1, 0)));
  engine->set_materials({tensor_material(0.2, 0, 0)});
  EXPECT_THROW(engine->step(), SimulationError);
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
