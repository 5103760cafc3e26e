// Fixture for laws of friction in whole steps at velocity level: a brick on an incline.
#pragma once

#include <cmath>
#include <vector>

#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip::fixtures {

inline constexpr double kSlopeGravity = 9.81;  // [m/s^2]

class FrictionSlopeTest : public VelocityStepTest {
 protected:
  using Vec3d = Vec<double, 3>;
  static constexpr double kGravity = kSlopeGravity;

  FrictionSlopeTest() {
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
      add_rigid_box(model, half, pose_at(half[1] * normal(), {0, 0, -angle}));
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
  /// Solvers that find Coulomb's law of rigid bodies by themselves or with de_saxce.
  static std::vector<ContactSolverKind> exact_solvers() {
    std::vector<ContactSolverKind> out;
    for (const ContactSolverInfo& row : contact_solver_table())
      if (row.law == "exact" || row.law == "associated") out.push_back(row.kind);
    return out;
  }
};

}  // namespace stickslip::fixtures
