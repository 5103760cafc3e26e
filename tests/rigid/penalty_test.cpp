// Penalty impulses and the implicit spring, on the host.
#include "gpu/rigid/penalty_forces.cuh"
#include "tests/rigid/rigid_problem.h"

namespace stickslip {
namespace {

using fixtures::RigidOne;
using V3d = Vec<double, 3>;

/// A body without rotation whose centre touches the floor y = 0.
struct Slider {
  RigidOne body;
  double mu = 0.5, across = 0.5;

  explicit Slider(double mass) {
    body.mass = mass;
    body.inertia = {1e12, 1e12, 1e12};
  }
  RigidContact contact() const {
    const V3d& x = body.pose.x;
    return {0, -1, {x[0], 0.5 * x[1], x[2]}, {0, 1, 0}, x[1], 0, -1};
  }
  ConstraintBlock<3> block(double dt) const {
    return contact_block<3>(contact(), body.at_step(), BodyAtStep::world(),
                            fixtures::grained_pair(mu, across), {{dt}, 0.5});
  }
  /// Converts (normal, tangents) to world axes.
  V3d to_world(const V3d& r) const {
    const ConstraintBlock<3> b = block(0.01);
    V3d f{};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) f[k] += r[i] * b.jacobian[0][i][k];
    return f;
  }
  V3d explicit_impulse(const PenaltyOptions& o) const {
    const ConstraintBlock<3> b = block(o.dt);
    V3d u{};
    for (int i = 0; i < 3; ++i) u[i] = dot(b.jacobian[0][i], body.at_step().twist());
    return to_world(penalty_impulse(o, b, contact().gap, u, body.at_step().inverse, BodyInverse{0, {}}));
  }
};

constexpr double kGravity = 9.81;

TEST(Penalty, SpringAndDamperPushAndNeverPull) {
  const PenaltyOptions o{1e-4, 1e5, 100, 1e-2, kGravity};
  Slider s(2);
  s.body.pose.x = {0, -1e-3, 0};
  EXPECT_NEAR(s.explicit_impulse(o)[1], o.dt * 100, 1e-12);
  s.body.velocity = {0, -0.5, 0};
  EXPECT_NEAR(s.explicit_impulse(o)[1], o.dt * 150, 1e-12);
  s.body.velocity = {0, 0.5, 0};
  EXPECT_NEAR(s.explicit_impulse(o)[1], o.dt * 50, 1e-12);
  s.body.velocity = {0, 2, 0};
  EXPECT_EQ(s.explicit_impulse(o)[1], 0);
  s.body.velocity = {0, -5, 0};
  s.body.pose.x = {0, 1e-6, 0};
  EXPECT_EQ(norm(s.explicit_impulse(o)), 0);
}

TEST(Penalty, FrictionStaysInTheConeAndIsViscousBelowTheSlipSpeed) {
  const PenaltyOptions o{1e-4, 1e5, 0, 1e-2, kGravity};
  Slider s(2);
  s.body.pose.x = {0, -1e-3, 0};
  s.across = 0.2;
  const double normal = o.dt * 100;
  for (const double angle : {0.0, 0.4, 1.1, 2.0}) {
    const V3d direction{std::cos(angle), 0, std::sin(angle)};
    s.body.velocity = 3.0 * direction;
    const V3d fast = s.explicit_impulse(o);
    EXPECT_NEAR(std::hypot(fast[0] / 0.5, fast[2] / 0.2), normal, 1e-12);
    EXPECT_LT(dot(fast, direction), 0);
    s.body.velocity = 1e-4 * direction;
    const V3d slow = s.explicit_impulse(o);
    EXPECT_LT(std::hypot(slow[0] / 0.5, slow[2] / 0.2), 0.011 * normal);
    s.body.velocity = 2e-4 * direction;
    EXPECT_NEAR(s.explicit_impulse(o)[0], 2 * slow[0], 1e-15);
  }
  // mu r_N v / slip along the grain.
  s.body.velocity = {1e-3, 0, 0};
  EXPECT_NEAR(s.explicit_impulse(o)[0], -0.5 * normal * 0.1, 1e-15);
}

/// Comes to rest where the spring carries the weight, and slides v^2 / (2 mu g).
TEST(Penalty, ExplicitStepsSettleAndSlide) {
  const PenaltyOptions o{1e-4, 1e5, 400, 1e-2, kGravity};
  Slider s(2);
  s.body.pose.x = {0, -2 * kGravity / 1e5, 0};
  s.body.velocity = {1, 0, 0};
  for (int step = 0; step < 4000; ++step) {
    const V3d r = s.explicit_impulse(o);
    s.body.velocity += (1.0 / 2) * r - V3d{0, o.dt * kGravity, 0};
    s.body.pose.x += o.dt * s.body.velocity;
  }
  EXPECT_NEAR(s.body.pose.x[1], -2 * kGravity / 1e5, 1e-7);
  EXPECT_NEAR(s.body.pose.x[0], 1 / (2 * 0.5 * kGravity), 2e-3);
}

/// Much too stiff for the step: it bounces, but no higher than it fell.
TEST(Penalty, ExplicitStepsOfAnyStiffnessStayBounded) {
  for (const double stiffness : {1e6, 1e9, 1e12}) {
    const PenaltyOptions o{1.0 / 60, stiffness, 1e5, 1e-2, kGravity};
    Slider s(1);
    s.body.pose.x = {0, 1, 0};
    s.body.velocity = {2, 0, 0};
    double highest = 0;
    for (int step = 0; step < 1200; ++step) {
      const V3d r = s.explicit_impulse(o);
      s.body.velocity += r - V3d{0, o.dt * kGravity, 0};
      s.body.pose.x += o.dt * s.body.velocity;
      if (step > 60) highest = std::max(highest, s.body.pose.x[1]);
    }
    EXPECT_LT(highest, 1.2) << stiffness;
    EXPECT_LT(std::fabs(s.body.velocity[0]), 2);
  }
}

/// One step compared with the implicit spring and damper by hand; the weight is carried at any step size.
TEST(Penalty, ImplicitStepsAreTheImplicitSpring) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double m = 2;
  for (const double dt : {1e-3, 1.0 / 60, 1.0}) {
    const PenaltyOptions o{dt, 1e4, 50, 1e-2, kGravity};
    std::vector<RigidOne> bodies(1);
    Slider s(m);
    s.body.pose.x = {0, -5e-3, 0};
    s.body.velocity = {0, -0.3, 0};
    const double steps = dt > 0.1 ? 60 : 3 / dt;
    for (int step = 0; step < steps; ++step) {
      const double gap = s.body.pose.x[1], v = s.body.velocity[1] - dt * kGravity;
      bodies[0] = s.body;
      bodies[0].velocity[1] = v;
      ConstraintBlock<3> block = s.block(dt);
      soften_by_penalty(o, gap, s.body.at_step().inverse, BodyInverse{0, {}}, block);
      fixtures::solve_by_lab<3>(*lab, "nsgs", bodies, {block}, 1e-12);
      // m (v+ - v) = dt (-k (gap + dt v+) - b v+)
      const double after = (m * v - dt * o.stiffness * gap) / (m + dt * o.damping + dt * dt * o.stiffness);
      if (gap < 0 && step < 5) {
        EXPECT_NEAR(bodies[0].velocity[1], after, 1e-9);
      }
      s.body.velocity = bodies[0].velocity;
      s.body.pose.x += dt * s.body.velocity;
    }
    EXPECT_NEAR(s.body.pose.x[1], -m * kGravity / o.stiffness, 1e-6) << dt;
  }
}

/// A pull below mu m g gives creep at slip F / (mu m g); a larger one gives Coulomb's law.
TEST(Penalty, ImplicitFrictionCreepsBelowItsBound) {
  const std::unique_ptr<ContactLab> lab = make_contact_lab(Backend::cpu, 1);
  const double m = 2, dt = 1.0 / 60;
  const PenaltyOptions o{dt, 1e4, 50, 1e-2, kGravity};
  for (const double share : {0.3, 0.9, 1.5}) {
    Slider s(m);
    s.body.pose.x = {0, -m * kGravity / o.stiffness, 0};
    const int steps = 60;
    for (int step = 0; step < steps; ++step) {
      std::vector<RigidOne> bodies{s.body};
      bodies[0].velocity += dt * V3d{share * 0.5 * kGravity, -kGravity, 0};
      ConstraintBlock<3> block = s.block(dt);
      soften_by_penalty(o, s.body.pose.x[1], s.body.at_step().inverse, BodyInverse{0, {}}, block);
      fixtures::solve_by_lab<3>(*lab, "nsgs", bodies, {block}, 1e-12);
      s.body.velocity = bodies[0].velocity;
      s.body.pose.x += dt * s.body.velocity;
    }
    const double wanted = share < 1 ? share * o.slip : (share - 1) * 0.5 * kGravity * dt * steps;
    EXPECT_NEAR(s.body.velocity[0], wanted, 1e-6 + (share > 1 ? 1e-9 : 0.0)) << share;
  }
}

}  // namespace
}  // namespace stickslip
