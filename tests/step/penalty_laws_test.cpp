// Laws of friction whose coefficients depend on the solution, under penalty forces: these have mu alone, and
// of a friction tensor the ellipse of contacts that stick.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/step/friction_slope.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

class PenaltyLaws : public fixtures::FrictionSlopeTest {
 protected:
  static constexpr double kMu = 0.2;

  PenaltyLaws() {
    contact.tolerance = 1e-10;
    params.penalty_stiffness = 1e5;
    params.penalty_damping = 300;
  }
  static Material plain() {
    Material m;
    m.mu = kMu;
    return m;
  }
  /// A brick of this material after an oblique impact on a floor, with the grain in this direction. Friction
  /// of `plain` ends the slip of a `slow` one in the impact.
  BodyState after(ContactSolverKind solver, const Material& material, const Vec3d& grain = {1, 0, 0},
                  bool slow = false) {
    params.contact_solver = solver;
    Slope flat;
    flat.velocity = slow ? Vec3d{0.1, -0.8, 0.05} : Vec3d{0.9, -0.8, 0.4};
    Model model = flat.model(material);
    model.bodies[0].pose.x[1] += 1e-4;
    model.bodies[0].grain = grain;
    start(model);
    friction_rounds_ = 0;
    for (int i = 0; i < (slow ? 3 : 150); ++i) {
      const StepReport report = engine->step();
      friction_rounds_ += report.contact_solve->friction_rounds;
      converged_ = report.converged;
      stop_reason_ = report.stop_reason;
    }
    return body();
  }
  /// Distance between two bodies: of positions, and of velocities over 1 s.
  static double distance(const BodyState& a, const BodyState& b) {
    return norm(a.pose.x - b.pose.x) + norm(a.velocity - b.velocity);
  }

  int friction_rounds_ = 0;
  bool converged_ = false;
  std::string stop_reason_;
};

std::vector<std::pair<std::string, Material>> laws(const Material& plain) {
  std::vector<std::pair<std::string, Material>> out(5, {"static", plain});
  out[0].second.mu_static = 0.8;
  out[0].second.stribeck_speed = 0.5;
  out[1].first = "viscous";
  out[1].second.viscous_friction = 0.7;
  out[2].first = "Tresca";
  out[2].second.tresca = 0.4;
  out[3].first = "tangential restitution";
  out[3].second.tangential_restitution = 0.9;
  out[4].first = "all";
  out[4].second.mu_static = 0.8;
  out[4].second.viscous_friction = 0.7;
  out[4].second.tresca = 0.4;
  out[4].second.tangential_restitution = 0.9;
  return out;
}

TEST_P(PenaltyLaws, HaveMuAlone) {
  for (const ContactSolverKind solver :
       {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit}) {
    const BodyState want = after(solver, plain());
    // The friction of a brick that slides.
    EXPECT_NEAR(norm(want.velocity), std::hypot(0.9, 0.4) - kMu * (kGravity * 150 * params.dt + 0.8), 5e-3);
    const BodyState slow = after(solver, plain(), {1, 0, 0}, true);
    for (const auto& [name, material] : laws(plain())) {
      SCOPED_TRACE(name);
      EXPECT_LT(distance(after(solver, material, {1, 0, 0}, true), slow), 1e-12);
      EXPECT_LT(distance(after(solver, material), want), 1e-12);
      EXPECT_EQ(friction_rounds_, 0);
      EXPECT_TRUE(converged_) << stop_reason_;
    }
  }
  // Where contacts are constraints, each of the laws does act.
  const Vec3d x{1, 0, 0};
  for (const auto& [name, material] : laws(plain())) {
    const bool slow = name == "tangential restitution";
    EXPECT_GT(distance(after(ContactSolverKind::nsgs, material, x, slow),
                       after(ContactSolverKind::nsgs, plain(), x, slow)),
              1e-3)
        << name;
  }
}

/// L in (x, z) is ((mu, -k), (k, mu_across)): see FrictionTensors. The ellipse r' L^-T L^-1 r <= r_N^2 has
/// the axes of L L', and their square roots as coefficients.
TEST_P(PenaltyLaws, OfATensorHaveTheEllipseOfContactsThatStick) {
  for (const double skew : {0.0, 0.25}) {
    Material tensor = plain();
    tensor.friction_kind = FrictionKind::tensor;
    tensor.mu_across = 0.5;
    tensor.mu_skew = skew;
    const double xx = kMu * kMu + skew * skew, zz = 0.25 + skew * skew, xz = kMu * skew - skew * 0.5,
                 mean = 0.5 * (xx + zz), radius = std::hypot(0.5 * (xx - zz), xz),
                 angle = 0.5 * std::atan2(xz, 0.5 * (xx - zz));
    // Against a half-space the ratio of both coefficients is a square root, see surface_pair.
    Material ellipse = plain();
    ellipse.friction_kind = FrictionKind::elliptic;
    ellipse.mu = std::sqrt(mean + radius);
    ellipse.mu_across = (mean - radius) / ellipse.mu;
    const Vec3d grain{std::cos(angle), 0, std::sin(angle)};
    for (const ContactSolverKind solver :
         {ContactSolverKind::penalty_explicit, ContactSolverKind::penalty_implicit}) {
      SCOPED_TRACE(std::string(contact_solver_info(solver).name));
      const BodyState want = after(solver, ellipse, grain);
      EXPECT_LT(distance(after(solver, tensor), want), 1e-6) << skew;
      EXPECT_EQ(friction_rounds_, 0);
      EXPECT_GT(distance(after(solver, plain()), want), 0.01) << "the ellipse is no circle";
    }
  }
}

INSTANTIATE_ON_BACKENDS(PenaltyLaws);

}  // namespace
}  // namespace stickslip
