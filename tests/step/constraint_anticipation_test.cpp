// Steps with coupling = ica, compared with the factorised problem and with mechanics.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "gpu/geometry/tangent.h"
#include "gpu/model/rigid_body.h"
#include "tests/fixtures/coupled_models.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::small_heap;

class ConstraintAnticipation : public fixtures::SolidStepTest {
 protected:
  ConstraintAnticipation() {
    params.coupling = SolidCoupling::ica;
    params.admm_tolerance = 1e-10;
    params.admm_iterations = 20000;
  }
};

/// The largest difference of velocities of nodes and bodies.
double velocities_apart(const State& a, const State& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.velocities.size(); ++i)
    most = std::max(most, norm(a.velocities[i] - b.velocities[i]));
  for (std::size_t i = 0; i < a.bodies.size(); ++i)
    most = std::max({most, norm(a.bodies[i].velocity - b.bodies[i].velocity),
                     0.1 * norm(a.bodies[i].spin - b.bodies[i].spin)});
  return most;
}

/// Soft and stiff, with rigid bodies beside: stiff solids need D to be enlarged.
TEST_P(ConstraintAnticipation, ReachesTheFactorisedProblem) {
  long softer = 0;
  for (const double young : {1e4, 1e6}) {
    SCOPED_TRACE(young);
    Model model = small_heap(false);
    model.materials[0].young = young;
    params.coupling = SolidCoupling::factor;
    params.contact_solver = ContactSolverKind::newton_ac;
    contact.tolerance = 1e-10;
    load(model);
    run(2);
    const State expected = engine->state();
    params.coupling = SolidCoupling::ica;
    contact.tolerance = 1e-5;
    load(model);
    const StepReport report = run(2);
    EXPECT_EQ(report.contact_solve->message, "");
    EXPECT_LT(report.contact_solve->rounds, params.admm_iterations);
    EXPECT_LT(velocities_apart(engine->state(), expected), 1e-5);
    // The smoothest motions of a stiff solid are the slowest to come.
    if (young == 1e4) softer = report.contact_solve->rounds;
    else EXPECT_GT(report.contact_solve->rounds, 2 * softer);
  }
}

TEST_P(ConstraintAnticipation, ABlockOnARigidInclineSticksOrSlidesByMu) {
  contact.tolerance = 1e-4;
  params.admm_tolerance = 1e-11;
  for (const double mu : {0.3, 0.8}) {
    fixtures::BlockOnIncline incline(mu);
    load(incline.model);
    run(30);
    const State state = engine->state();
    const Vec<double, 3> v = fixtures::mean(state.velocities, 0, static_cast<int>(state.velocities.size()));
    EXPECT_NEAR(dot(v, incline.down), 0.3 * incline.acceleration, 2e-3) << mu;
  }
}

/// Momentum is that of the impulses, and these lie in their cones, however few the iterations.
TEST_P(ConstraintAnticipation, AFreePairKeepsItsMomentumWithFewIterations) {
  params.gravity = 0;
  params.admm_iterations = 2;
  Model model = fixtures::free_pair();
  load(model);
  const StepReport first = engine->step();
  bool touched = false;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = engine->step();
    touched = touched || report.contacts > 0;
    EXPECT_LE(report.contact_solve->rounds, 2);
    EXPECT_LT(norm(report.momentum - first.momentum), 1e-8 * norm(first.momentum)) << report.frame;
    EXPECT_LE(report.contact_solve->law->cone, 1e-9 * report.contact_solve->law->impulse) << report.frame;
  }
  EXPECT_TRUE(touched);
}

/// Two iterations are too few, and the report says so.
TEST_P(ConstraintAnticipation, FewIterationsDoNotCountAsConverged) {
  params.admm_iterations = 2;
  contact.tolerance = 1e-6;
  Model model = small_heap(false);
  load(model);
  EXPECT_FALSE(run_unconverged(1).converged);
}

/// The more facets a cone has, the nearer the step is to that of the round cone.
TEST_P(ConstraintAnticipation, ManyFacetsApproachTheRoundCone) {
  contact.tolerance = 1e-5;
  Model model = small_heap(false);
  load(model);
  run(1);
  const State round = engine->state();
  params.ica_cone = IcaCone::facets;
  double last = 1e300;
  for (const int facets : {4, 16, 64}) {
    params.ica_facets = facets;
    load(model);
    const StepReport report = run_unconverged(1);
    EXPECT_LE(report.contact_solve->law->cone, 1e-9 * report.contact_solve->law->impulse);
    const double apart = velocities_apart(engine->state(), round);
    EXPECT_LT(apart, 0.5 * last) << facets;
    last = apart;
  }
  EXPECT_LT(last, 4e-3);
  EXPECT_GT(last, 0);
}

/// A stiff block that slides on the floor by pyramids with a corner on the contact's first tangent.
class SlideOnFacets : public ConstraintAnticipation {
 protected:
  /// The velocity after 20 steps of a block that starts at 2 m/s, `angle` from the first tangent: components
  /// along the tangents.
  std::pair<double, double> slide(double angle, int facets) {
    params.ica_cone = IcaCone::facets;
    params.ica_facets = facets;
    contact.tolerance = 1e-5;
    const Vec<double, 3> n{0, 1, 0}, t1 = tangent_basis(n).t1, t2 = cross(n, t1);
    Model model;
    fixtures::add_floor(model, 0, kMu);
    fixtures::add_box(model, "block", {0.4, 0.1, 0.4}, {0, 0.05, 0}, 1, 0,
                      2 * std::cos(angle) * t1 + 2 * std::sin(angle) * t2);
    model.materials[0].mu = kMu;
    model.materials[0].young = 1e6;
    model.materials[0].damping = 0.02;
    load(model);
    last = run_unconverged(kSteps);
    const State state = engine->state();
    const Vec<double, 3> v = fixtures::mean(state.velocities, 0, static_cast<int>(state.velocities.size()));
    return {dot(v, t1), dot(v, t2)};
  }

  static constexpr double kMu = 0.4, kWeight = 9.81;
  static constexpr int kSteps = 20;
  StepReport last;
};

/// Friction is the point of the polygon that takes the most power: in the middle of a side against sliding
/// along its normal, with cos(pi / facets) of Coulomb's size, and else at a corner.
TEST_P(SlideOnFacets, FrictionIsThatOfThePolygon) {
  const double fall = kMu * kWeight * kSteps * params.dt;
  const auto expect = [&](double angle, int facets, double along, double across) {
    const auto [v1, v2] = slide(angle, facets);
    EXPECT_NEAR(v1, along, 4e-3) << angle << ", " << facets;
    EXPECT_NEAR(v2, across, 4e-3) << angle << ", " << facets;
  };
  const double quarter = 0.25 * M_PI, half_side = std::cos(quarter);
  expect(0, 4, 2 - fall, 0);
  EXPECT_TRUE(last.converged) << last.stop_reason;
  expect(quarter, 4, half_side * (2 - half_side * fall), half_side * (2 - half_side * fall));
  EXPECT_FALSE(last.converged);
  EXPECT_NE(last.stop_reason.find("friction cones of 4 facets"), std::string::npos) << last.stop_reason;
  // Between a corner and the middle of a side: all friction is along the first tangent.
  expect(0.3, 4, 2 * std::cos(0.3) - fall, 2 * std::sin(0.3));
  // Five corners: none is opposite to the first.
  expect(0, 5, 2 - std::cos(M_PI / 5) * fall, 0);
  expect(M_PI, 5, fall - 2, 0);
}

/// Where the block slides along a tangent, the incline cannot tell the pyramid from the cone.
TEST_P(ConstraintAnticipation, ABlockOnAnInclineSlidesByFourFacets) {
  contact.tolerance = 1e-4;
  params.admm_tolerance = 1e-11;
  params.ica_cone = IcaCone::facets;
  params.ica_facets = 4;
  for (const double mu : {0.3, 0.8}) {
    fixtures::BlockOnIncline incline(mu);
    const Vec<double, 3> n = cross(Vec<double, 3>{0, 0, 1}, incline.down);
    const double along = std::fabs(dot(tangent_basis(n).t1, incline.down));
    ASSERT_LT(std::min(along, 1 - along), 1e-12);
    load(incline.model);
    run_unconverged(30);
    const State state = engine->state();
    const Vec<double, 3> v = fixtures::mean(state.velocities, 0, static_cast<int>(state.velocities.size()));
    EXPECT_NEAR(dot(v, incline.down), 0.3 * incline.acceleration, 2e-3) << mu;
  }
}

INSTANTIATE_ON_BACKENDS(ConstraintAnticipation);
INSTANTIATE_ON_BACKENDS(SlideOnFacets);

}  // namespace
}  // namespace stickslip
