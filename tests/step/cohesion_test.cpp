// Contacts that pull, and contacts that yield, compared with statics; with every contact solver and coupling.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gpu/model/steppers.h"
#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/solid_step_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::add_rigid_box;
using fixtures::add_rigid_sphere;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

constexpr double kBodyWeight = 9.81;  // [N] of boxes and spheres of 1 kg

/// Solvers that find Coulomb's law of rigid bodies by themselves or with de_saxce.
std::vector<ContactSolverKind> coulomb_solvers() {
  std::vector<ContactSolverKind> out;
  for (const ContactSolverInfo& row : contact_solver_table())
    if (row.law == "exact" || row.law == "associated") out.push_back(row.kind);
  return out;
}

class StickySteps : public fixtures::SolidStepTest {
 protected:
  StickySteps() {
    contact.tolerance = 1e-6;
    contact.max_iterations = 5000;
  }
  /// Steps; the judge, which has its own sums, must find momentum and cones right.
  StepReport judged_step() {
    StepReport report = step();
    const LawCheck& law = report.judgement->law;
    EXPECT_LT(law.momentum, 1e-9 + 1e-4 * law.impulse) << report.frame;
    EXPECT_LT(law.cone, 1e-9 + 1e-3 * law.impulse) << report.frame;
    return report;
  }
  double normal_force() {
    Snapshot snapshot;
    engine->snapshot(snapshot);
    double sum = 0;
    for (const ContactRecord& c : snapshot.contacts) sum += c.normal_force;
    return sum;
  }
};

/// A ball of 1 kg under a fixed slab.
Model hanging_ball(double cohesion) {
  Model model;
  add_rigid_box(model, {1, 0.1, 1}, pose_at({0, 0.1, 0}), false);
  const double radius = 0.05;
  add_rigid_sphere(model, radius, {0, -radius, 0});
  model.materials[0].density = 1 / (4.0 / 3 * M_PI * radius * radius * radius);
  model.materials[0].cohesion = cohesion;
  return model;
}

TEST_P(StickySteps, ABallHangsFromACeilingUpToItsCohesion) {
  for (const ContactSolverKind solver : coulomb_solvers()) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    Model held = hanging_ball(1.02 * kBodyWeight);
    load(held);
    for (int i = 0; i < 20; ++i) judged_step();
    EXPECT_NEAR(engine->state().bodies[1].pose.x[1], -0.05, 1e-5);
    EXPECT_NEAR(normal_force(), -kBodyWeight, 1e-3 * kBodyWeight);
    Model falls = hanging_ball(0.9 * kBodyWeight);
    load(falls);
    for (int i = 0; i < 20; ++i) judged_step();
    EXPECT_LT(engine->state().bodies[1].pose.x[1], -0.06);
  }
}

/// A box of 1 kg beside a wall, on which it has four contacts.
Model box_on_wall(double cohesion, double mu) {
  Model model;
  add_rigid_box(model, {0.1, 1, 1}, pose_at({-0.1, 0, 0}), false);
  add_rigid_box(model, {0.05, 0.05, 0.05}, pose_at({0.05, 0, 0}));
  model.materials[0].mu = mu;
  model.materials[0].cohesion = cohesion;
  return model;
}

// The wall carries no load, so friction has the bound 4 mu xi.
TEST_P(StickySteps, CohesionLoadsFriction) {
  const double mu = 0.5;
  for (const ContactSolverKind solver : coulomb_solvers()) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    Model held = box_on_wall(1.1 * kBodyWeight / (4 * mu), mu);
    load(held);
    for (int i = 0; i < 20; ++i) judged_step();
    EXPECT_GT(engine->state().bodies[1].pose.x[1], -1e-4);
    Model slides = box_on_wall(0.8 * kBodyWeight / (4 * mu), mu);
    load(slides);
    for (int i = 0; i < 20; ++i) judged_step();
    const double want = 0.2 * 9.81 * 0.2;
    EXPECT_NEAR(engine->state().bodies[1].velocity[1], -want, 0.05 * want);
  }
}

/// A soft block under a fixed slab.
Model hanging_block(double cohesion) {
  Model model;
  add_rigid_box(model, {1, 0.1, 1}, pose_at({0, 0.1, 0}), false);
  add_box(model, "block", {0.1, 0.1, 0.1}, {0, -0.05, 0}, 2, 0);
  model.materials[0] = {};
  model.materials[0].young = 1e6;
  model.materials[0].damping = 0.01;
  model.materials[0].cohesion = cohesion;
  return model;
}

TEST_P(StickySteps, ASoftBlockHangsFromACeilingUnderEveryCoupling) {
  params.admm_tolerance = 1e-11;
  params.admm_iterations = 10000;
  for (const SolidCoupling coupling :
       {SolidCoupling::rounds, SolidCoupling::factor, SolidCoupling::nodal_admm}) {
    SCOPED_TRACE(static_cast<int>(coupling));
    params.coupling = coupling;
    Model sticky = hanging_block(5);
    load(sticky);
    for (int i = 0; i < 30; ++i) judged_step();
    EXPECT_NEAR(normal_force(), -kBodyWeight, 0.02 * kBodyWeight);
    Model dry = hanging_block(0.01);
    load(dry);
    for (int i = 0; i < 15; ++i) judged_step();
    const State state = engine->state();
    EXPECT_LT(state.velocities.back()[1], -1.2);
  }
}

// A spring of the compliance carries the weight.
TEST_P(StickySteps, ACompliantContactSinksByItsComplianceTimesTheLoad) {
  for (const ContactSolverKind solver : coulomb_solvers()) {
    SCOPED_TRACE(std::string(contact_solver_info(solver).name));
    params.contact_solver = solver;
    Model model;
    add_rigid_box(model, {1, 0.1, 1}, pose_at({0, -0.1, 0}), false);
    const double radius = 0.05, compliance = 1e-5;
    add_rigid_sphere(model, radius, {0, radius, 0});
    model.materials[0].density = 1 / (4.0 / 3 * M_PI * radius * radius * radius);
    model.materials[0].compliance = compliance / 2;  // of each side
    load(model);
    for (int i = 0; i < 100; ++i) judged_step();
    EXPECT_NEAR(engine->state().bodies[1].pose.x[1], radius - compliance * kBodyWeight,
                1e-2 * compliance * kBodyWeight);
  }
}

TEST_P(StickySteps, ASoftBlockSinksUnderEveryCoupling) {
  params.admm_tolerance = 1e-11;
  params.admm_iterations = 10000;
  for (const SolidCoupling coupling :
       {SolidCoupling::rounds, SolidCoupling::factor, SolidCoupling::nodal_admm}) {
    SCOPED_TRACE(static_cast<int>(coupling));
    params.coupling = coupling;
    Model model = hanging_block(0);
    for (auto& p : model.positions) p[1] += 0.301;
    for (auto& p : model.rest_positions) p[1] += 0.301;
    model.bodies[0].pose.x[1] = 0.1;
    model.materials[0].compliance = 1e-4;
    load(model);
    for (int i = 0; i < 150; ++i) step();
    EXPECT_NEAR(normal_force(), kBodyWeight, 0.02 * kBodyWeight);
    Snapshot snapshot;
    engine->snapshot(snapshot);
    ASSERT_FALSE(snapshot.contacts.empty());
    // Each contact is a spring: its gap is that at the start of the step.
    for (const ContactRecord& c : snapshot.contacts)
      EXPECT_NEAR(c.gap, -2e-4 * c.normal_force, 2e-5) << c.normal_force;
  }
}

TEST_P(StickySteps, BarrierStepsRefuseBoth) {
  for (const bool coheres : {true, false}) {
    Model model = hanging_block(coheres ? 1 : 0);
    if (!coheres) model.materials[0].compliance = 1e-5;
    const auto refused = stepper_refusal(model, SolverKind::ipc, false);
    ASSERT_TRUE(refused);
    EXPECT_NE(refused->text().find(coheres ? "cohesion of 'default'" : "compliance of 'default'"),
              std::string::npos)
        << refused->text();
    EXPECT_FALSE(stepper_refusal(model, SolverKind::ipc, true));
    EXPECT_FALSE(stepper_refusal(model, SolverKind::velocity, false));
  }
}

INSTANTIATE_ON_BACKENDS(StickySteps);

}  // namespace
}  // namespace stickslip
