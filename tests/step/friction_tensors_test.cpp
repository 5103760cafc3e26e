// Laws of friction that depend on the direction of sliding, in whole steps at velocity level, against
// analysis: matchsticks and friction tensors.
#include <cmath>
#include <numbers>
#include <string>

#include "tests/step/friction_slope.h"

namespace stickslip {
namespace {

class FrictionTensors : public fixtures::FrictionSlopeTest {};
using Vec3d = Vec<double, 3>;

/// Two plates of matchsticks that cross at a right angle have the third coefficient in every direction.
TEST_P(FrictionTensors, CrossedMatchsticksHaveTheirOwnCoefficient) {
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
    ax = -fixtures::kSlopeGravity * (m.mu * dx - m.mu_skew * dz);
    az = -fixtures::kSlopeGravity * (m.mu_across * dz + m.mu_skew * dx);
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

TEST_P(FrictionTensors, ABrickCurvesAsItsTensorSays) {
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

TEST_P(FrictionTensors, ATensorIsCoulombsLawOrTheEllipseWhereItShould) {
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
TEST_P(FrictionTensors, ATensorSticksWithinItsEllipse) {
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

TEST_P(FrictionTensors, BoxFrictionLeavesTensorsToAnotherSolver) {
  params.contact_solver = ContactSolverKind::pgs;
  Slope flat;
  flat.velocity = {1, 0, 1};
  start(flat.model(tensor_material(0.2, 0.6, 0.1)));
  const StepReport report = step();
  EXPECT_NE(report.contact_solve->message.find("pgs refuses"), std::string::npos);
}

TEST_P(FrictionTensors, RefusesSingularTensors) {
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

INSTANTIATE_ON_BACKENDS(FrictionTensors);

}  // namespace
}  // namespace stickslip
