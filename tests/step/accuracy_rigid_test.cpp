// Rigid bodies compared with analysis as the step decreases: the order of each quantity with each integrator
// and stabilisation. gpu/step/accuracy.md has the table.
#include <algorithm>
#include <cmath>
#include <functional>

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/refinement.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_floor;
using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using fixtures::refine;
using fixtures::Refinement;
using V = Vec<double, 3>;

constexpr RigidIntegrator kIntegrators[] = {RigidIntegrator::semi_implicit, RigidIntegrator::midpoint};
constexpr Stabilisation kRules[] = {Stabilisation::none, Stabilisation::baumgarte,
                                    Stabilisation::spring_damper, Stabilisation::projection};

const char* name_of(RigidIntegrator i) {
  return i == RigidIntegrator::midpoint ? "midpoint" : "semi_implicit";
}
const char* name_of(Stabilisation s) {
  constexpr const char* names[] = {"none", "baumgarte", "spring_damper", "projection"};
  return names[static_cast<int>(s)];
}

/// State during a run.
struct RigidMoment {
  StepReport report;
  State state;
};

class RigidAccuracy : public fixtures::VelocityStepTest {
 protected:
  RigidAccuracy() : VelocityStepTest(1) {
    params.contact_solver = ContactSolverKind::automatic;
    contact.tolerance = 1e-10;
    contact.max_iterations = 100000;
  }
  /// Runs the model for `seconds` and calls `see` after each step.
  void observe(double dt, double seconds, const std::function<void(const RigidMoment&)>& see) {
    params.dt = dt;
    load(model);
    const int steps = static_cast<int>(std::lround(seconds / dt));
    for (int k = 0; k < steps; ++k) {
      RigidMoment now;
      now.report = engine->step();
      now.state = engine->state();
      see(now);
    }
  }
  /// The largest |kinetic + gravity - `start`| of a run.
  double energy_error(double dt, double seconds, double start) {
    double most = 0;
    observe(dt, seconds, [&](const RigidMoment& m) {
      most = std::max(most, std::fabs(m.report.kinetic_energy + m.report.gravity_energy - start));
    });
    return most;
  }

  Model model;
};

/// A rod of 1 m that hangs by its end, released from the horizontal: 6 s, four swings.
void add_pendulum(Model& model, JointKind kind) {
  if (kind == JointKind::distance) {
    // A cube on a string of 1 m.
    add_rigid_box(model, {0.05, 0.05, 0.05}, pose_at({1, 0, 0}));
    Joint rope;
    rope.kind = kind;
    rope.a = 0;
    rope.low = 0;
    rope.high = 1;
    add_joint(model, rope, pose_at({1, 0, 0}), pose_at({0, 0, 0}));
    return;
  }
  add_rigid_box(model, {0.5, 0.02, 0.02}, pose_at({0.5, 0, 0}));
  Joint joint;
  joint.kind = kind;
  joint.a = 0;
  add_joint(model, joint, Pose{{0, 0, 0}, turn_of_x({0, 0, 1})});
}

TEST_P(RigidAccuracy, APendulumKeepsItsEnergy) {
  for (const JointKind kind : {JointKind::ball, JointKind::distance}) {
    model = {};
    add_pendulum(model, kind);
    const double mass = kind == JointKind::distance ? 1 : 1.6, fall = kind == JointKind::distance ? 1 : 0.5;
    for (const RigidIntegrator integrator : kIntegrators)
      for (const Stabilisation rule : kRules) {
        params.integrator = integrator;
        params.stabilisation = rule;
        const Refinement r =
            refine(1.0 / 60, 3, [&](double dt) { return energy_error(dt, 6, 0) / (mass * 9.81 * fall); });
        SCOPED_TRACE(testing::Message() << "joint " << static_cast<int>(kind) << ' ' << name_of(integrator)
                                        << ' ' << name_of(rule) << ' ' << r.text());
        if (rule == Stabilisation::spring_damper) {
          EXPECT_LT(r.errors[0], 0.06);  // the joint is a soft damper, whatever the step
        } else if (integrator == RigidIntegrator::midpoint) {
          EXPECT_LT(r.errors[0], 0.04);
          EXPECT_LT(r.errors[1], 3e-3);
          EXPECT_GT(r.order(), 1.5);
        } else {
          EXPECT_GT(r.order(), 0.75);
        }
      }
  }
}

/// Two freely rotating bodies connected by a joint.
void add_pair(Model& model, JointKind kind, bool cubes) {
  add_rigid_box(model, cubes ? V{0.16, 0.16, 0.16} : V{0.3, 0.1, 0.15}, pose_at({0, 0, 0}));
  add_rigid_box(model, cubes ? V{0.12, 0.12, 0.12} : V{0.1, 0.25, 0.12}, pose_at({0.7, 0, 0}));
  Joint joint;
  joint.kind = kind;
  joint.a = 0;
  joint.b = 1;
  joint.ratio = 2;
  const V spin{0.9, 1.1, -1.3}, at{0.4, 0, 0}, axis{0.36, 0.48, 0.8};
  const double kSpin = 3;
  for (std::size_t b = 0; b < 2; ++b) {
    Body& body = model.bodies[b];
    body.spin = kSpin * spin;
    body.velocity = cross(body.spin, body.pose.x - at);
  }
  if (kind == JointKind::distance) {
    joint.low = joint.high = 0.7;
    add_joint(model, joint, pose_at({0, 0, 0}), pose_at({0.7, 0, 0}));
    return;
  }
  if (kind == JointKind::hinge) {
    model.bodies[1].spin += 4.0 * axis;
    model.bodies[1].velocity = cross(model.bodies[1].spin, model.bodies[1].pose.x - at);
  }
  if (kind == JointKind::slider) model.bodies[1].velocity += 0.2 * axis;
  add_joint(model, joint, Pose{at, turn_of_x(axis)});
}

TEST_P(RigidAccuracy, JointsDoNoWork) {
  params.gravity = 0;
  for (const bool cubes : {true, false})
    for (const JointKind kind :
         {JointKind::ball, JointKind::hinge, JointKind::slider, JointKind::fixed, JointKind::distance}) {
      model = {};
      add_pair(model, kind, cubes);
      for (const RigidIntegrator integrator : kIntegrators)
        for (const Stabilisation rule : kRules) {
          params.integrator = integrator;
          params.stabilisation = rule;
          double turned = 0;
          const Refinement energy = refine(1.0 / 60, 3, [&](double dt) {
            double first = 0, most = 0;
            V momentum{0, 0, 0};
            turned = 0;
            bool started = false;
            observe(dt, 1, [&](const RigidMoment& m) {
              if (!started) {
                first = m.report.kinetic_energy;
                momentum = m.report.angular_momentum;
                started = true;
              }
              most = std::max(most, std::fabs(m.report.kinetic_energy / first - 1));
              turned = std::max(turned, norm(m.report.angular_momentum - momentum) / norm(momentum));
            });
            return most;
          });
          SCOPED_TRACE(testing::Message()
                       << "joint " << static_cast<int>(kind) << (cubes ? ", cubes " : ", boxes ")
                       << name_of(integrator) << ' ' << name_of(rule) << ' ' << energy.text());
          if (rule == Stabilisation::spring_damper) {
            EXPECT_LT(energy.errors[0], 0.03);
          } else if (integrator == RigidIntegrator::midpoint) {
            // The gyroscopic torque of unequal moments acts before the joint's impulse: this splitting is of
            // first order.
            EXPECT_LT(energy.errors[0], 0.03);
            EXPECT_LT(energy.errors[2], cubes ? 5e-5 : 2e-3);
            EXPECT_LT(turned, cubes ? 2e-4 : 2e-3);
          } else {
            EXPECT_GT(energy.order(), 0.8);
          }
        }
    }
}

/// Euler's equations in the principal frame and the orientation, by the classical Runge-Kutta method.
Pose turned_freely(const V& inertia, const V& spin, double seconds) {
  struct Turn {
    Quat q;
    V w;  // body frame
  };
  const auto rate = [&](const V& w) {
    return V{(inertia[1] - inertia[2]) * w[1] * w[2] / inertia[0],
             (inertia[2] - inertia[0]) * w[2] * w[0] / inertia[1],
             (inertia[0] - inertia[1]) * w[0] * w[1] / inertia[2]};
  };
  const auto spinning = [](const Quat& q, const V& w) {
    const Quat d = q * Quat{0, w};
    return Quat{0.5 * d.w, 0.5 * d.v};
  };
  const auto add = [](const Quat& q, double h, const Quat& d) { return Quat{q.w + h * d.w, q.v + h * d.v}; };
  Turn t{Quat::identity(), spin};
  constexpr int kSteps = 20000;
  const double h = seconds / kSteps;
  for (int k = 0; k < kSteps; ++k) {
    const V w1 = rate(t.w), w2 = rate(t.w + 0.5 * h * w1), w3 = rate(t.w + 0.5 * h * w2),
            w4 = rate(t.w + h * w3);
    const Quat q1 = spinning(t.q, t.w), q2 = spinning(add(t.q, 0.5 * h, q1), t.w + 0.5 * h * w1),
               q3 = spinning(add(t.q, 0.5 * h, q2), t.w + 0.5 * h * w2),
               q4 = spinning(add(t.q, h, q3), t.w + h * w3);
    t.w += (h / 6) * (w1 + 2 * w2 + 2 * w3 + w4);
    t.q = add(add(add(add(t.q, h / 6, q1), h / 3, q2), h / 3, q3), h / 6, q4);
  }
  return {{0, 0, 0}, normalized(t.q)};
}

/// A box that tumbles about its middle axis (unstable) for 2 s.
TEST_P(RigidAccuracy, ATumblingBoxTurnsAsEulerSays) {
  params.gravity = 0;
  const std::int32_t box = add_rigid_box(model, {0.1, 0.2, 0.4}, pose_at({0, 0, 0}));
  Body& body = model.bodies[static_cast<std::size_t>(box)];
  body.spin = {0.1, 5, 0.2};
  const V inertia = body.unit_inertia;
  const Pose exact = turned_freely(inertia, body.spin, 2);
  for (const RigidIntegrator integrator : kIntegrators) {
    params.integrator = integrator;
    double energy = 0, momentum = 0;
    const Refinement r = refine(1.0 / 60, 4, [&](double dt) {
      double error = 0;
      V first{0, 0, 0};
      energy = momentum = 0;
      const double start =
          model.bodies[0].volume * 500 * (inertia[0] * 0.01 + inertia[1] * 25 + inertia[2] * 0.04);
      for (int i = 0; i < 3; ++i) first[i] = model.bodies[0].volume * 1000 * inertia[i] * body.spin[i];
      observe(dt, 2, [&](const RigidMoment& m) {
        const Quat q = m.state.bodies[0].pose.q;
        error = norm(rotation_vector(q * exact.q.conjugate()));
        energy = std::max(energy, std::fabs(m.report.kinetic_energy / start - 1));
        momentum = std::max(momentum, norm(m.report.angular_momentum - first) / norm(first));
      });
      return error;
    });
    SCOPED_TRACE(r.text());
    const bool second = integrator == RigidIntegrator::midpoint;
    EXPECT_NEAR(r.order(), second ? 2 : 1, 0.1);
    EXPECT_LT(r.errors[0], second ? 1e-3 : 1e-2);
    EXPECT_LT(energy, 1e-10);
    EXPECT_LT(momentum, second ? 2e-5 : 4e-3);  // its direction, at the smallest step
  }
}

/// A bouncing ball: its height at the top of the bounce is e^2 (h - r) + r.
TEST_P(RigidAccuracy, ABallBouncesToItsHeight) {
  add_floor(model);
  add_rigid_sphere(model, 0.1, {0, 1.1, 0});
  model.materials[0].restitution = 0.8;
  for (const RigidIntegrator integrator : kIntegrators) {
    params.integrator = integrator;
    const Refinement r = refine(1.0 / 60, 6, [&](double dt) {
      double top = 0, last = 0;
      bool bounced = false;
      observe(dt, 1.1, [&](const RigidMoment& m) {
        const double v = m.state.bodies[0].velocity[1];
        bounced = bounced || (v > 0 && last < 0);
        last = v;
        if (bounced) top = std::max(top, m.state.bodies[0].pose.x[1]);
      });
      return (top - 0.1) / 0.64 - 1;
    });
    // An impact is moved to the start of its step: first order, or better by chance.
    EXPECT_LT(r.errors[0], 0.05) << r.text();
    for (int k = 1; k < 6; ++k)
      EXPECT_LT(r.errors[static_cast<std::size_t>(k)], std::ldexp(0.08, -k)) << r.text();
  }
}

/// A box slides to rest within v^2 / (2 mu g). A sliding ball rolls after 2 v / (7 mu g), at 5/7 of its
/// speed.
TEST_P(RigidAccuracy, FrictionStopsABoxAndRollsABall) {
  constexpr double kMu = 0.3, kSpeed = 2;
  add_floor(model, 0, kMu);
  for (const bool ball : {false, true}) {
    model.bodies.clear();
    model.objects.clear();
    model.shapes.clear();
    if (ball) add_rigid_sphere(model, 0.1, {0, 0.1, 0});
    else add_rigid_box(model, {0.1, 0.02, 0.1}, pose_at({0, 0.02, 0}));
    model.materials[0].mu = kMu;
    model.half_spaces[0].mu = kMu;
    model.bodies[0].velocity = {kSpeed, 0, 0};
    for (const RigidIntegrator integrator : kIntegrators) {
      params.integrator = integrator;
      double speed = 0;
      const Refinement r = refine(1.0 / 60, 5, [&](double dt) {
        double x = 0;
        observe(dt, 1, [&](const RigidMoment& m) {
          x = m.state.bodies[0].pose.x[0];
          speed = m.state.bodies[0].velocity[0];
        });
        const double sliding = 2 * kSpeed / (7 * kMu * 9.81);
        const double rolled =
            kSpeed * sliding - kMu * 9.81 * sliding * sliding / 2 + 5.0 / 7 * kSpeed * (1 - sliding);
        return ball ? x / rolled - 1 : x / (kSpeed * kSpeed / (2 * kMu * 9.81)) - 1;
      });
      SCOPED_TRACE(testing::Message() << (ball ? "ball " : "box ") << name_of(integrator) << ' ' << r.text());
      EXPECT_NEAR(speed, ball ? 5.0 / 7 * kSpeed : 0, 1e-8);
      if (integrator == RigidIntegrator::midpoint) {
        // Less by chance: the last step ends before the motion would reverse.
        for (int k = 0; k < 5; ++k)
          EXPECT_LT(r.errors[static_cast<std::size_t>(k)], std::ldexp(2e-4, -2 * k));
      } else {
        EXPECT_NEAR(r.order(), 1, 0.05);
      }
    }
  }
}

INSTANTIATE_ON_BACKENDS(RigidAccuracy);

}  // namespace
}  // namespace stickslip
