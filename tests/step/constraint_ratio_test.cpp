// nu = 3 contacts / dofs in the report of a step [Bertails11]: only degrees of freedom that can move count.
#include <gtest/gtest.h>

#include "tests/fixtures/embedded_model.h"
#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/thin_model.h"

namespace stickslip {
namespace {

using namespace fixtures;

class ConstraintRatio : public ThinTest {
 protected:
  /// nu of a step beside that of its frozen problem, whose matrix has the unknowns of the step alone.
  void expect_nu(Model& model, double dofs) {
    choose(SolverKind::velocity);
    load(model);
    const StepReport report = engine->step();
    const ContactProblem problem = engine->freeze();
    ASSERT_GT(report.contacts, 0);
    ASSERT_EQ(problem.contacts(), static_cast<std::size_t>(report.contacts));
    EXPECT_EQ(static_cast<double>(problem.moving_dofs()), dofs);
    EXPECT_DOUBLE_EQ(report.contact_solve->nu, 3.0 * report.contacts / dofs);
  }
};

/// Of a rod of n segments, 3 (n + 1) of its nodes and 3 n of the ghosts; a held segment takes off nine.
TEST_P(ConstraintRatio, HeldNodesDoNotCount) {
  Model model = thin_model();
  add_rod(model, {0, kThickness / 2 + 1e-4, 0}, {1, 0, 0}, 0.4, 8, {0, -0.1, 0});
  const Object held = add_rod(model, {0, 1.5 * kThickness + 2e-4, 0.01}, {0.6, 0, 0.8}, 0.4, 5, {0, -0.1, 0});
  ScriptedNodes script;
  script.nodes = {held.node_begin, held.collides_from, held.collides_from + 1};
  model.scripted.push_back(script);
  model.half_spaces.push_back({});
  expect_nu(model, 3 * (9 + 8) + 3 * (6 + 5) - 9);
}

/// A collider has no degrees of freedom, a rigid body six.
TEST_P(ConstraintRatio, RigidBodiesCountSix) {
  Model model = thin_model();
  add_rigid_box(model, {0.4, 0.05, 0.4}, pose_at({0, 0.05, 0}));
  add_rod(model, {0, 0.075 + kThickness / 2 + 1e-4, 0}, {1, 0, 0}, 0.3, 4, {0, -0.1, 0});
  add_floor(model);
  expect_nu(model, 6 + 3 * (5 + 4));
}

/// Surface nodes follow those of the lattice.
TEST_P(ConstraintRatio, NodesThatFollowDoNotCount) {
  Model model;
  const Object box = add_embedded_box(model, "box", {0.2, 0.1, 0.15}, {0, 0.0501, 0}, 2, 0.08);
  for (Vec3d& v : model.velocities) v = {0, -0.1, 0};
  model.half_spaces.push_back({});
  expect_nu(model, 3 * (box.collides_from - box.node_begin));
}

INSTANTIATE_ON_BACKENDS(ConstraintRatio);

}  // namespace
}  // namespace stickslip
