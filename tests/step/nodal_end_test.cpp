// Where the iterations of coupling = nodal_admm end: by the residual of the step, not in metres alone.
#include <algorithm>
#include <string>

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/coupled_models.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

class NodalEnd : public fixtures::SolidStepTest {
 protected:
  NodalEnd() { params.coupling = SolidCoupling::nodal_admm; }
};

/// Iterations that change velocities by less than admm_tolerance go on as long as the residual of the step is
/// too large. With a tolerance of a millimetre they would end at once.
TEST_P(NodalEnd, TheResidualOfTheStepEndsIterationsWhereMetresWouldBeTooCoarse) {
  params.admm_tolerance = 1e-3;
  params.admm_iterations = 5000;
  int few = 0;
  for (const double tolerance : {1.0, 1e-3, 1e-6}) {
    SCOPED_TRACE(tolerance);
    contact.tolerance = tolerance;
    Model model = fixtures::small_heap(false);
    load(model);
    int most = 0;
    for (int i = 0; i < 4; ++i) {
      const StepReport report = engine->step();
      EXPECT_EQ(report.contact_solve->message, "");
      EXPECT_LE(report.contact_solve->residual, tolerance);
      EXPECT_EQ(report.contact_solve->changes.size(), static_cast<std::size_t>(report.contact_solve->rounds));
      most = std::max(most, report.contact_solve->rounds);
    }
    EXPECT_GT(most, few);
    EXPECT_LT(most, params.admm_iterations);
    few = most;
  }
}

/// In a step of a millisecond gravity moves nodes by 0.01 mm, the default of admm_tolerance, in one of 0.2 ms
/// by a 25th of that. The floor carries a block by the step's share of its weight all the same.
TEST_P(NodalEnd, ABlockIsCarriedInStepsInWhichGravityMovesItByLessThanTheTolerance) {
  contact.tolerance = 1e-3;
  for (const double dt : {1e-2, 1e-3, 2e-4}) {
    SCOPED_TRACE(dt);
    params.dt = dt;
    Model model;
    fixtures::add_floor(model);
    fixtures::add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2, 0, {0, 0, 0});
    load(model);
    for (int i = 0; i < 3; ++i) {
      const StepReport report = engine->step();
      EXPECT_EQ(report.contact_solve->message, "");
      EXPECT_GT(report.contacts, 0);
      EXPECT_LE(report.contact_solve->residual, contact.tolerance);
      EXPECT_LT(report.contact_solve->law->approach, 2e-3 * 9.81 * dt);
    }
  }
}

/// An end by iterations is no end by residual: the step says so.
TEST_P(NodalEnd, AStepThatRunsOutOfIterationsHasNotConverged) {
  params.admm_iterations = 2;
  Model model = fixtures::small_heap(false);
  load(model);
  const StepReport report = engine->step();
  EXPECT_EQ(report.contact_solve->rounds, 2);
  EXPECT_GT(report.contact_solve->residual, contact.tolerance);
  EXPECT_FALSE(report.converged);
}

INSTANTIATE_ON_BACKENDS(NodalEnd);

}  // namespace
}  // namespace stickslip
