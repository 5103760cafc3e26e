// Steps with coupling = ica, compared with the factorised problem and with mechanics.
#include <algorithm>
#include <cmath>
#include <string>

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

TEST_P(ConstraintAnticipation, JointsOnSolidsAreLeftToRounds) {
  Model model = small_heap(true);
  load(model);
  EXPECT_TRUE(run_unconverged(1).contact_solve->message.starts_with(
      "coupling = ica takes no joints on elastic solids: rounds took its place"));
}

INSTANTIATE_ON_BACKENDS(ConstraintAnticipation);

}  // namespace
}  // namespace stickslip
