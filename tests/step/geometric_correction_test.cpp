// Steps with geometric_correction = position: overlaps of elastic objects are taken back in positions alone.
#include <algorithm>
#include <cmath>

#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using fixtures::add_rod;
using fixtures::kThickness;
using fixtures::rod_distance;
using fixtures::thin_model;
using fixtures::ThinTest;
using fixtures::Vec3d;

constexpr double kOverlap = 4e-3;  // [m]

class GeometricCorrections : public ThinTest {
 protected:
  GeometricCorrections() {
    choose(SolverKind::velocity);
    params.coupling = SolidCoupling::nodal_admm;
    params.admm_tolerance = 1e-12;
    params.admm_iterations = 20000;
    params.pcg_tolerance = 1e-10;
    params.gravity = 0;
    params.dt = 1.0 / 60;
  }

  StepReport step() {
    const StepReport report = engine->step();
    EXPECT_TRUE(report.converged) << "frame " << report.frame << ": " << report.stop_reason;
    return report;
  }
  /// Rods that hardly bend: what strains them is given back as velocities.
  Model stiff_model() {
    Model model = thin_model(true);
    model.materials[0].young = 1e10;
    return model;
  }
  /// Two free rods that cross at their middles and overlap there.
  Model cross(const Vec3d& velocity) {
    Model model = stiff_model();
    add_rod(model, {0, kThickness - kOverlap, 0}, {1, 0, 0}, 0.2, 5, velocity);
    add_rod(model, {0, 0, 0}, {0, 0, 1}, 0.2, 5, velocity);
    return model;
  }
  double distance(const Model& model) {
    return rod_distance(model, positions(), model.objects[0], model.objects[1]);
  }
  /// [m] What baumgarte leaves of an overlap after so many steps.
  double left(double overlap, int steps) const {
    return params.contact_slop + (overlap - params.contact_slop) * std::pow(1 - params.baumgarte, steps);
  }
};

/// Centre of mass of straight rods of one material and thickness.
Vec3d centre(const Model& model, const std::vector<Vec3d>& x) {
  Vec3d sum{0, 0, 0};
  for (const Vec2i& s : model.segments) sum += 0.5 * (x[s[0]] + x[s[1]]);
  return sum / static_cast<double>(model.segments.size());
}

TEST_P(GeometricCorrections, StrandsThatOverlapAreSeparatedAndDoNotFlyApart) {
  constexpr int kSteps = 40;
  for (const SolidCoupling coupling : {SolidCoupling::nodal_admm, SolidCoupling::rounds}) {
    params.coupling = coupling;
    double kinetic[2] = {0, 0}, apart[2] = {0, 0};
    for (const GeometricCorrection kind : {GeometricCorrection::velocity, GeometricCorrection::position}) {
      params.geometric_correction = kind;
      Model model = cross({0, 0, 0});
      load(model);
      const int k = static_cast<int>(kind);
      for (int i = 1; i <= kSteps; ++i) {
        kinetic[k] = std::max(kinetic[k], step().kinetic_energy);
        if (kind == GeometricCorrection::position) {
          EXPECT_NEAR(kThickness - distance(model), left(kOverlap, i), 0.02 * kOverlap) << i;
        }
      }
      apart[k] = distance(model);
    }
    EXPECT_GT(apart[0], 1.5 * kThickness) << "they fly apart";
    EXPECT_LT(kinetic[1], 1e-3 * kinetic[0]);
    EXPECT_NEAR(apart[1], kThickness - params.contact_slop, 1e-5);
  }
}

/// The correction is that of impulses between both, and velocities stay those of the motion.
TEST_P(GeometricCorrections, MomentumAndTheCentreOfMassAreThoseOfTheFreeMotion) {
  params.geometric_correction = GeometricCorrection::position;
  const Vec3d velocity{0.3, -0.5, 0.2};
  for (const NodalIntegrator integrator : {NodalIntegrator::newton, NodalIntegrator::admm}) {
    // Iterations of such stiff rods do not end; impulses and velocities belong together in any case.
    const bool splits = integrator == NodalIntegrator::admm;
    params.nodal_integrator = integrator;
    if (splits) params.admm_iterations = 200;
    Model model = cross(velocity);
    load(model);
    const Vec3d start = centre(model, model.positions);
    for (int i = 1; i <= 10; ++i) {
      const StepReport report = splits ? engine->step() : step();
      const Vec3d moved = centre(model, positions()) - start;
      EXPECT_LT(norm(moved - (i * params.dt) * velocity), 1e-8) << i;
      EXPECT_LT(norm(report.momentum / norm(report.momentum) - velocity / norm(velocity)), 1e-6) << i;
      EXPECT_NEAR(kThickness - distance(model), left(kOverlap, i), 0.02 * kOverlap) << i;
    }
  }
}

/// A rigid body moves with its share.
TEST_P(GeometricCorrections, ABodyThatOverlapsAStrandIsMovedAway) {
  constexpr double kRadius = 0.02;
  params.admm_tolerance = 1e-9;
  for (const GeometricCorrection kind : {GeometricCorrection::velocity, GeometricCorrection::position}) {
    params.geometric_correction = kind;
    Model model = stiff_model();
    add_rod(model, {0, 0, 0}, {1, 0, 0}, 0.2, 5, {0, 0, 0});
    fixtures::add_rigid_sphere(model, kRadius, {0, kRadius + kThickness / 2 - kOverlap, 0});
    load(model);
    const double start = model.bodies[0].pose.x[1];
    for (int i = 1; i <= 20; ++i) {
      const StepReport report = step();
      if (kind == GeometricCorrection::position) {
        EXPECT_LT(report.kinetic_energy, 1e-9);
      }
    }
    const State state = engine->state();
    const double height = state.bodies[0].pose.x[1], speed = norm(state.bodies[0].velocity);
    if (kind == GeometricCorrection::velocity) {
      EXPECT_GT(speed, 1e-4);
    } else {
      EXPECT_LT(speed, 1e-5);
      EXPECT_GT(height, start);
      double least = 1e300;  // [m] from the centre to the rod
      for (const Vec2i& s : model.segments) {
        const Vec3d a = state.positions[s[0]], b = state.positions[s[1]], p = state.bodies[0].pose.x;
        const double t = std::clamp(dot(p - a, b - a) / norm2(b - a), 0.0, 1.0);
        least = std::min(least, norm(a + t * (b - a) - p));
      }
      EXPECT_NEAR(kRadius + kThickness / 2 - least, left(kOverlap, 20), 0.02 * kOverlap);
    }
  }
}

/// Where nothing overlaps, both choices are the same step.
TEST_P(GeometricCorrections, WithoutOverlapsNothingChanges) {
  params.gravity = -9.81;
  std::vector<State> states;
  for (const GeometricCorrection kind : {GeometricCorrection::velocity, GeometricCorrection::position}) {
    params.geometric_correction = kind;
    Model model = stiff_model();
    add_rod(model, {0, 0.014, 0}, {1, 0, 0}, 0.2, 5, {0, -0.4, 0});
    add_rod(model, {0, 0, 0}, {0, 0, 1}, 0.2, 5, {0, 0, 0});
    load(model);
    bool touched = false;
    for (int i = 0; i < 2; ++i) touched = step().contacts > 0 || touched;
    EXPECT_TRUE(touched);
    states.push_back(engine->state());
  }
  for (std::size_t i = 0; i < states[0].positions.size(); ++i) {
    EXPECT_EQ(norm(states[0].positions[i] - states[1].positions[i]), 0);
    EXPECT_EQ(norm(states[0].velocities[i] - states[1].velocities[i]), 0);
  }
}

/// The guard lets positions go where they are corrected to.
TEST_P(GeometricCorrections, TheGuardHoldsCorrectedPositions) {
  params.geometric_correction = GeometricCorrection::position;
  params.penetration_guard = true;
  Model model = cross({0, 0, 0});
  load(model);
  double last = distance(model);
  for (int i = 1; i <= 40; ++i) {
    EXPECT_LT(step().kinetic_energy, 1e-9) << i;
    EXPECT_GE(distance(model), last - 1e-7) << i;
    last = distance(model);
  }
  EXPECT_GT(last, kThickness - params.contact_slop);
}

INSTANTIATE_ON_BACKENDS(GeometricCorrections);

}  // namespace
}  // namespace stickslip
