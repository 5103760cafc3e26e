// What steps of elastic solids at velocity level say of themselves: convergence, counts, frozen problems.
#include <algorithm>
#include <cmath>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using Vec3d = Vec<double, 3>;

class SolidReports : public fixtures::SolidStepTest {};

/// Contacts of the first step are new, and start from no impulses. Later they have those of the step before,
/// whatever the solve of the step did meanwhile.
TEST_P(SolidReports, AFrozenProblemHasTheImpulsesThatTheStepStartedFromAsGuess) {
  params.linearisations = 2;
  for (const bool beside_rigid : {false, true}) {  // that is without cores
    Model model;
    fixtures::add_floor(model);
    add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2);
    model.materials[0].damping = 0.02;
    if (beside_rigid) fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({0, 5, 0}));
    load(model);
    step();
    ContactProblem before = engine->freeze();
    ASSERT_EQ(before.guess.size(), before.size());
    const auto largest = [](const std::vector<double>& r) {
      double most = 0;
      for (const double x : r) most = std::max(most, std::abs(x));
      return most;
    };
    EXPECT_EQ(largest(before.guess), 0);
    EXPECT_GT(largest(before.solution), 0);
    step();
    const ContactProblem after = engine->freeze();
    ASSERT_EQ(after.size(), before.size()) << "the block rests on the same nodes";
    double apart = 0;
    for (std::size_t i = 0; i < after.size(); ++i)
      apart = std::max(apart, std::abs(after.guess[i] - before.solution[i]));
    EXPECT_LT(apart, 1e-12);
    EXPECT_NE(after.guess, after.solution);
  }
}

/// The window and the soak put what was asked for before it.
TEST_P(SolidReports, WhyNothingCanBeFrozenIsSaidWithoutTheNameOfTheRequest) {
  Model model;
  add_box(model, "block", {0.2, 0.2, 0.2}, {0, 1, 0}, 2);
  load(model);
  try {
    engine->freeze();
    ADD_FAILURE() << "there is no step yet";
  } catch (const std::logic_error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("no step was made", 0), 0u) << error.what();
  }
}

/// Each contact between two blocks is a pair beside those within the surface of each block.
TEST_P(SolidReports, CandidatesAreThePairsOfTheSearchBetweenSurfaces) {
  StepReport reports[2];
  for (const bool touching : {false, true}) {
    Model model;
    add_box(model, "lower", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2);
    add_box(model, "upper", {0.2, 0.2, 0.2}, {0, touching ? 0.3001 : 2.3, 0}, 2);
    load(model);
    reports[touching] = engine->step();
  }
  EXPECT_EQ(reports[0].contacts, 0);
  EXPECT_GE(reports[1].contacts, 9) << "nodes of a face";
  EXPECT_GE(reports[1].candidates, reports[0].candidates + reports[1].contacts);
}

TEST_P(SolidReports, IterationsAreThoseOfAllLinearisations) {
  contact.tolerance = 1e-12;
  contact.max_iterations = 1;  // each round then has one
  params.linearisations = 3;
  Model model;
  fixtures::add_floor(model);
  add_box(model, "block", {0.2, 0.2, 0.2}, {0, 0.1, 0}, 2, 0, {0.5, -0.5, 0});
  load(model);
  const StepReport report = engine->step();
  EXPECT_EQ(report.contact_solve->linearisations, 3);
  EXPECT_GT(report.contact_solve->rounds, 3);
  EXPECT_EQ(report.contact_solve->iterations, report.contact_solve->rounds);
}

TEST_P(SolidReports, ATimeBudgetIsThatOfAllLinearisations) {
  contact.time_budget = 1e-9;
  contact.tolerance = 0.9;  // fulfilled by the impulses at the start
  params.linearisations = 50;
  Model model;
  add_box(model, "block", {0.2, 0.2, 0.2}, {0, 1, 0}, 2);
  load(model);
  const StepReport report = engine->step();
  EXPECT_EQ(report.contact_solve->linearisations, 1);
  EXPECT_FALSE(report.converged) << "the step asks for 50";
  EXPECT_TRUE(report.stopped_by_budget);
  EXPECT_EQ(report.stop_reason, "budget");
}

/// A bar, just above the floor where there is one, whose velocities stretch and bend it.
Model swinging_bar(bool floor, fixtures::BoxBody body = fixtures::BoxBody::deformable) {
  Model model;
  add_box(model, "bar", {0.6, 0.1, 0.1}, {0, 0.0501, 0}, 5, 0, {0, 0, 0}, body);
  for (std::size_t i = 0; i < model.velocities.size(); ++i) {
    const Vec3d& x = model.positions[i];
    model.velocities[i] = {5 * x[0], -0.1 - 3 * x[0] * x[0], 0.5};
  }
  if (floor) fixtures::add_floor(model);
  return model;
}

TEST_P(SolidReports, AStepHasNotConvergedWhenItsLinearSolveRanOutOfIterations) {
  contact.tolerance = 1e-3;
  params.pcg_tolerance = 1e-4;
  params.preconditioner = PreconditionerKind::block_jacobi;  // factors need no iterations of PCG
  for (const bool floor : {false, true})
    for (const int iterations : {2, 1000}) {
      SCOPED_TRACE(testing::Message() << floor << ", " << iterations << " iterations");
      params.pcg_iterations = iterations;
      Model model = swinging_bar(floor);
      load(model);
      const StepReport report = engine->step();
      EXPECT_EQ(report.contacts > 0, floor);
      if (iterations == 1000) {
        EXPECT_EQ(report.stop_reason, "converged");
        EXPECT_LE(report.contact_solve->solids_residual, 1e-4);
      } else if (!floor) {
        EXPECT_NE(report.stop_reason.find("elastic solids: PCG ran out of iterations"), std::string::npos)
            << report.stop_reason;
        EXPECT_GT(report.contact_solve->solids_residual, 1e-3);
      }
      // Many rounds of two iterations each may do what one solve does not.
      if (report.converged) {
        EXPECT_LE(report.contact_solve->solids_residual, 1e-3);
      }
    }
}

/// The momentum of a free object is right even where PCG did not solve its equations. The judge, which needs
/// neither the matrix nor the residual of PCG, confirms it; the residual says what is wrong.
TEST_P(SolidReports, MomentumIsRightHoweverLittlePcgDid) {
  params.preconditioner = PreconditionerKind::none;
  for (const fixtures::BoxBody body : {fixtures::BoxBody::deformable, fixtures::BoxBody::affine})
    for (const int iterations : {1, 1000}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(body) << ", " << iterations << " iterations");
      params.pcg_iterations = iterations;
      Model model = swinging_bar(false, body);
      // Beside a rigid body, solids do not start from free fall.
      fixtures::add_rigid_box(model, {0.1, 0.1, 0.1}, fixtures::pose_at({0, 5, 0}));
      load(model);
      const StepReport report = engine->step();
      const double weight = 9.81 * params.dt * 1000 * 0.6 * 0.1 * 0.1;
      EXPECT_LT(report.judgement->law.momentum, (sizeof(Real) == 8 ? 1e-6 : 1e-2) * weight);
      // The twelve numbers of an affine body are solved for at once.
      const bool is_solved = iterations == 1000 || body == fixtures::BoxBody::affine;
      EXPECT_EQ(report.converged, is_solved) << report.stop_reason;
      EXPECT_EQ(report.contact_solve->solids_residual > 1e-3, !is_solved);
    }
}

/// A light affine body falls beside a solid that spins, whose residual hides its own.
TEST_P(SolidReports, ALightAffineBodyFallsBesideASpinningSolid) {
  params.preconditioner = PreconditionerKind::none;
  Model model;
  add_box(model, "light", {0.2, 0.2, 0.2}, {0, 5, 0}, 1, 0, {0, 0, 0}, fixtures::BoxBody::affine);
  add_box(model, "solid", {0.2, 0.2, 0.2}, {5, 5, 0}, 2);
  model.materials.push_back(model.materials[0]);
  model.material_names.emplace_back("light");
  model.materials[1].density = 1e-4 * model.materials[0].density;
  model.objects[0].material = 1;
  for (std::int32_t i = model.objects[1].node_begin; i < model.objects[1].node_end; ++i)
    model.velocities[i] = cross(Vec3d{0, 0, 20}, model.positions[i] - Vec3d{5, 5, 0});
  load(model);
  StepReport report;
  for (int i = 0; i < 10; ++i) report = engine->step();
  const std::int32_t node = model.objects[0].node_begin;
  EXPECT_NEAR(engine->state().velocities[node][1], -9.81 * 10 * params.dt, sizeof(Real) == 8 ? 1e-6 : 1e-2);
}

/// A soft block hits the floor so fast, in so long a step, that it turns inside out: too much for Newton's
/// method without a line search.
TEST_P(SolidReports, LinearisationsThatDivergeLeaveTheStepOfTheFirst) {
  params.dt = 0.5;
  contact.tolerance = 1e-3;
  State states[2];
  for (const int linearisations : {1, 7}) {
    params.linearisations = linearisations;
    Model model;
    fixtures::add_floor(model);
    add_box(model, "block", {0.3, 0.7, 0.3}, {0, 0.5, 0}, 3, 20, {30, -30, 0});
    model.materials[0].model = ElasticModel::fixed_corotated;
    model.materials[0].young = 5e5;
    load(model);
    const StepReport report = engine->step();
    states[linearisations > 1] = engine->state();
    EXPECT_EQ(report.contact_solve->linearisations_diverge, linearisations > 1);
    if (linearisations == 1) continue;
    EXPECT_FALSE(report.converged);
    EXPECT_EQ(report.stop_reason.rfind("linearisations diverge", 0), 0u) << report.stop_reason;
    EXPECT_EQ(report.contact_solve->linearisations, 1);
  }
  for (std::size_t i = 0; i < states[0].velocities.size(); ++i)
    EXPECT_LT(norm(states[1].velocities[i] - states[0].velocities[i]), 1e-2);
}

/// Where rounding exceeds the distances of contacts, residuals mean nothing, and overflow soon after.
TEST_P(SolidReports, NodesTooFarAwayForContactsStopTheRunAndTheStateStays) {
  Model model;
  add_box(model, "block", {0.2, 0.2, 0.2}, {0, 1, 0}, 2, 0, {1e17, 0, 0});
  load(model);
  try {
    engine->step();
    ADD_FAILURE() << "the step is accepted";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("fly apart"), std::string::npos) << error.what();
  }
  EXPECT_EQ(engine->state().positions, model.positions);
}

INSTANTIATE_ON_BACKENDS(SolidReports);

}  // namespace
}  // namespace stickslip
