// What the records of contacts say of their solver: r-factors, rho, penalties and stiffnesses in use.
#include <cmath>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

class StepValues : public fixtures::VelocityStepTest {
 protected:
  /// The contacts of a cube at rest on the floor, by a solver. For each corner, W has 4 / m on its diagonal:
  /// 1 / m + |arm x n|^2 / I with |arm x n|^2 = 2 h^2 and I = 2 m h^2 / 3, and the same along the floor.
  std::vector<ContactRecord> contacts_of_cube(ContactSolverKind solver) {
    constexpr double h = 0.1;
    Model model;
    fixtures::add_floor(model);
    fixtures::add_rigid_box(model, {h, h, h}, fixtures::pose_at({0, h, 0}));
    mass_ = model.materials[0].density * 8 * h * h * h;
    params.contact_solver = solver;
    load(model);
    step();
    Snapshot snapshot;
    engine->snapshot(snapshot);
    EXPECT_EQ(snapshot.contacts.size(), 4u);
    return snapshot.contacts;
  }
  /// The values of all contacts are these numbers times m / 4, which is 1 / W_nn, or times 4 / m.
  void expect_values(ContactSolverKind solver, StepKind kind, double normal, double tangent) {
    for (const ContactRecord& contact : contacts_of_cube(solver)) {
      const double unit = kind == StepKind::penalty ? 4 / mass_ : mass_ / 4;
      EXPECT_EQ(contact.step_kind, kind);
      EXPECT_NEAR(static_cast<double>(contact.step_normal), normal * unit, 1e-3 * normal * unit);
      EXPECT_NEAR(static_cast<double>(contact.step_tangent), tangent * unit, 1e-3 * tangent * unit);
    }
  }

  double mass_ = 0;
};

TEST_P(StepValues, ProximalStepsHaveTheirRFactors) {
  contact.r_strategy = RFactorStrategy::local;
  contact.r_scale = 0.5;
  contact.r_adaptive = false;
  expect_values(ContactSolverKind::prox_gs, StepKind::r_factor, 0.5, 0.5);
  contact.r_scale = 0.2;
  expect_values(ContactSolverKind::prox_jacobi, StepKind::r_factor, 0.2, 0.2);
}

TEST_P(StepValues, SweepsOfManifoldsHaveTheirRFactors) {
  contact.omega = 0.8;
  expect_values(ContactSolverKind::manifold_gs, StepKind::r_factor, 0.8, 0.8);
}

TEST_P(StepValues, NewtonsMethodHasItsRho) {
  contact.rho_n = 2;
  contact.rho_t = 3;
  expect_values(ContactSolverKind::newton_ac, StepKind::rho, 2, 3);
  expect_values(ContactSolverKind::newton_minmap, StepKind::rho, 3, 3);
}

/// It multiplies rho by 1.5 where a centre takes few steps.
TEST_P(StepValues, TheAugmentedLagrangianHasTheRhoItHasGrownTo) {
  contact.al_rho = 7;
  for (const ContactRecord& contact : contacts_of_cube(ContactSolverKind::newton_al)) {
    EXPECT_EQ(contact.step_kind, StepKind::rho);
    EXPECT_EQ(contact.step_normal, contact.step_tangent);
    const double growths = std::log(static_cast<double>(contact.step_normal) * 4 / mass_ / 7) / std::log(1.5);
    EXPECT_NEAR(growths, std::round(growths), 1e-2);
    EXPECT_GT(growths, -0.1);
  }
}

TEST_P(StepValues, AdmmHasItsPenalty) {
  contact.admm_adaptive = false;
  contact.admm_rho = 0.5;
  expect_values(ContactSolverKind::admm, StepKind::penalty, 0.5, 0.5);
}

/// A solver without such values takes away those of the one before.
TEST_P(StepValues, ExactLocalSolvesHaveNone) {
  contacts_of_cube(ContactSolverKind::newton_al);
  params.contact_solver = ContactSolverKind::nsgs;
  apply_params();
  step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  ASSERT_EQ(snapshot.contacts.size(), 4u);
  for (const ContactRecord& contact : snapshot.contacts) EXPECT_EQ(contact.step_kind, StepKind::none);
}

TEST_P(StepValues, BarriersHaveTheirStiffness) {
  params = {};
  params.solver = SolverKind::ipc;
  params.barrier_stiffness = 1234;
  Model model;
  fixtures::add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.0505, 0}, 1);
  model.half_spaces.push_back({});
  finalize(model);
  load(model);
  for (int i = 0; i < 5; ++i) engine->step();
  Snapshot snapshot;
  engine->snapshot(snapshot);
  ASSERT_FALSE(snapshot.contacts.empty());
  for (const ContactRecord& contact : snapshot.contacts) {
    EXPECT_EQ(contact.step_kind, StepKind::stiffness);
    EXPECT_EQ(contact.step_normal, 1234);
  }
}

INSTANTIATE_ON_BACKENDS(StepValues);

}  // namespace
}  // namespace stickslip
