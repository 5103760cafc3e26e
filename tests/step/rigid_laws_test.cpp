// Coulomb's law in whole steps: invariants of every stepping solver, compared with analysis and with nsgs.
#include <cmath>
#include <random>

#include "tests/fixtures/fresh_seed.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

class RigidLaws : public fixtures::VelocityStepTest {
 protected:
  /// Steps are solved to convergence: at the defaults of running scenes, two solvers differ by a thousandth
  /// of the velocities in each step.
  RigidLaws() {
    contact.tolerance = 1e-7;
    contact.max_iterations = 5000;
  }
  std::unique_ptr<Engine> loaded(const Model& model, ContactSolverKind solver, double dt) {
    params.contact_solver = solver;
    params.dt = dt;
    return new_engine(model);
  }
};

/// A ball or a box on an incline.
struct Incline {
  double mu, size, speed, angle, dt;
  bool is_ball;

  Model model() const {
    Model model;
    const Vec3d normal{std::sin(angle), std::cos(angle), 0}, down{std::cos(angle), -std::sin(angle), 0};
    if (is_ball) fixtures::add_rigid_sphere(model, size, size * normal);
    else fixtures::add_rigid_box(model, {size, size, size}, fixtures::pose_at(size * normal, {0, 0, -angle}));
    model.bodies[0].velocity = speed * down;
    HalfSpace plane;
    plane.normal = normal;
    plane.mu = mu;
    plane.mu_of_pair = true;
    model.half_spaces.push_back(plane);
    finalize(model);
    return model;
  }
};

// A sliding ball with speed v starts to rotate until it rolls at 5/7 v; no step removes more than mu m g dt.
TEST_P(RigidLaws, ABallSlidesUntilItRolls) {
  constexpr double kMu = 0.2, kStep = 1.0 / 60, kGravity = 9.81;
  const Incline flat{kMu, 0.1, 2, 0, kStep, true};
  for (const ContactSolverKind solver : {ContactSolverKind::manifold_gs, ContactSolverKind::nsgs}) {
    engine = loaded(flat.model(), solver, kStep);
    double before = engine->state().bodies[0].velocity[0];
    for (int i = 0; i < 60; ++i) {
      engine->step();
      const double now = engine->state().bodies[0].velocity[0];
      ASSERT_LE(std::abs(now - before), kMu * kGravity * kStep * (1 + 1e-9)) << "step " << i;
      before = now;
    }
    EXPECT_NEAR(before, 2 * 5.0 / 7, 2e-3);
  }
}

TEST_P(RigidLaws, ManifoldGsSlidesAndRollsAsNsgsDoes) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  const auto between = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  for (int k = 0; k < 24; ++k) {
    const Incline incline{between(0.05, 1), std::pow(10, between(-2, 0.5)), between(0, 5),
                          between(0, 0.7),  k % 3 == 0 ? 0.005 : 1.0 / 60,  k % 2 == 0};
    const Model model = incline.model();
    const std::unique_ptr<Engine> ours = loaded(model, ContactSolverKind::manifold_gs, incline.dt),
                                  reference = loaded(model, ContactSolverKind::nsgs, incline.dt);
    double mass = 0, worst = 0;
    for (int i = 0; i < 40; ++i) {
      const StepReport a = ours->step(), b = reference->step();
      ASSERT_TRUE(b.converged) << "scene " << k << ", step " << i;
      ASSERT_TRUE(a.converged) << "scene " << k << ", step " << i;
      worst = std::max(worst, 4 * a.contact_solve->residual);
      ASSERT_TRUE(a.contact_solve->law.has_value());
      const LawCheck& law = *a.contact_solve->law;
      ASSERT_LE(law.cone, 1e-9 * law.impulse);
      ASSERT_LE(law.momentum, 1e-9 * (law.momentum_size + law.impulse));
      ASSERT_LE(law.angular_momentum, 1e-9 * (law.momentum_size * incline.size + law.torque));
      // At most four contacts carry the impulse of gravity in a step.
      const double fall = 9.81 * incline.dt;
      mass = std::max(mass, 4 * law.impulse / fall);
      ASSERT_LE(norm(a.momentum - b.momentum), (1e-4 + (i + 1) * worst) * mass * (incline.speed + fall))
          << "scene " << k << ", step " << i;
    }
  }
}

// Steps along directions diverged here, where sweeps alone need 30 iterations.
TEST_P(RigidLaws, ManifoldGsSolvesBoxesThatBeginToSlide) {
  for (const Incline& incline : {Incline{0.775, 0.079, 0.0525, 0.5256, 1.0 / 60, false},
                                 Incline{0.56469249226392959, 0.10455013159853661, 0.6070940947666138,
                                         0.60313212835265184, 0.005, false},
                                 Incline{0.91907562350418814, 0.54768206885741688, 3.2415970741391793,
                                         0.31210316740793892, 0.005, false}}) {
    engine = loaded(incline.model(), ContactSolverKind::manifold_gs, incline.dt);
    for (int i = 0; i < 20; ++i)
      EXPECT_TRUE(engine->step().converged) << "mu " << incline.mu << ", step " << i;
  }
}

// A tower stands while a distant body slides fast on ice: the 100 m/s of one body must not scale the errors
// of all. Converged steps hold the tower.
TEST_P(RigidLaws, AFastBodyElsewhereHidesNoError) {
  for (const ContactSolverKind solver :
       {ContactSolverKind::apgd, ContactSolverKind::nsgs, ContactSolverKind::manifold_gs,
        ContactSolverKind::nncg, ContactSolverKind::automatic}) {
    Model model;
    constexpr double kHalf = 0.05;
    for (int i = 0; i < 8; ++i)
      fixtures::add_rigid_box(model, {kHalf, kHalf, kHalf}, fixtures::pose_at({0, kHalf * (1 + 2 * i), 0}));
    fixtures::add_rigid_sphere(model, 0.1, {1, 0.1, 0});
    model.materials.push_back(model.materials[0]);
    model.materials.back().mu = 0;
    model.material_names.push_back("ice");
    model.objects.back().material = 1;
    model.bodies.back().velocity = {100, 0, 0};
    model.bodies.back().spin = {0, 0, 1e4};
    fixtures::add_floor(model);
    finalize(model);
    contact.tolerance = 1e-4;
    engine = loaded(model, solver, 1.0 / 60);
    int converged = 0;
    for (int i = 0; i < 120; ++i) converged += engine->step().converged ? 1 : 0;
    EXPECT_GT(converged, 110);
    const double top = engine->state().bodies[7].pose.x[1];
    EXPECT_NEAR(top, 15 * kHalf, 2e-3) << "solver " << static_cast<int>(solver);
  }
}

// Ten radians in a step: Newton's method for the free spin needs substeps.
TEST_P(RigidLaws, AFreeBodyKeepsItsEnergyHoweverFastItTurns) {
  FRESH_SEED(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> half(0.02, 0.3), spin(-600, 600);
  for (int k = 0; k < 40; ++k) {
    Model model;
    fixtures::add_rigid_box(model, {half(random), half(random), half(random)}, fixtures::pose_at({0, 1, 0}));
    model.bodies[0].spin = {spin(random), spin(random), spin(random)};
    finalize(model);
    engine = loaded(model, ContactSolverKind::nsgs, 1.0 / 60);
    const StepReport first = engine->step(), last = run_unconverged(60);
    // The kinetic energy of the fall is known: v = g t.
    const double mass = std::abs(last.momentum[1]) / (9.81 * last.time);
    const auto turning = [&](const StepReport& r) {
      return r.kinetic_energy - 0.5 * norm2(r.momentum) / mass;
    };
    EXPECT_NEAR(turning(last) / turning(first), 1, 1e-9) << "box " << k;
  }
}

INSTANTIATE_ON_BACKENDS(RigidLaws);

}  // namespace
}  // namespace stickslip
