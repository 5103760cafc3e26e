// Steps in which the sweeps of manifold_gs stall: a heavy ball hits a wall of light bricks.
#include <string>

#include "tests/fixtures/rigid_model.h"
#include "tests/fixtures/velocity_fixture.h"

namespace stickslip {
namespace {

class ManifoldStall : public fixtures::VelocityStepTest {
 protected:
  ManifoldStall() : VelocityStepTest(1) {
    params.dt = 1.0 / 120;
    params.contact_margin = 1e-3;
    params.contact_solver = ContactSolverKind::manifold_gs;
    contact.tolerance = 1e-3;
    contact.max_iterations = 1000;
  }

  /// A ball of 2.1 t flies at 4.5 m/s into `columns` by `rows` bricks of 8.6 kg in running bond.
  Model ball_at_wall(int columns, int rows) const {
    Model model;
    fixtures::add_floor(model, 0, 0.6);
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        fixtures::add_rigid_box(model, {0.119, 0.05, 0.1},
                                fixtures::pose_at({0.24 * (column - 0.5 * (columns - 1)) + 0.12 * (row % 2),
                                                   0.05 + 0.1 * row, 0}));
    model.materials[0].density = 1800;
    model.materials[0].mu = 0.6;
    model.materials.push_back(model.materials[0]);
    model.material_names.push_back("steel");
    model.materials[1].density = 7850;
    model.materials[1].mu = 0.4;
    const std::int32_t ball = fixtures::add_rigid_sphere(model, 0.4, {0.03, 0.07 * rows, 0.62});
    model.bodies[static_cast<std::size_t>(ball)].velocity = {0, 0, -4.5};
    model.objects.back().material = 1;
    return model;
  }
};

TEST_P(ManifoldStall, AnotherSolverGoesOn) {
  load(ball_at_wall(8, 10));
  int continued = 0;
  for (int i = 0; i < 14; ++i) {
    const ContactSolveRecord solve = *step().contact_solve;  // each step converges
    if (solve.message.empty()) continue;
    EXPECT_EQ(solve.message, "manifold_gs stalls: newton_al went on from its impulses");
    EXPECT_GT(solve.iterations, contact.max_iterations);
    ++continued;
  }
  EXPECT_GT(continued, 0) << "the problem is not hard enough to test anything";
}

// Few iterations are a limit that scenes set to stay fast.
TEST_P(ManifoldStall, FewIterationsAreKept) {
  contact.max_iterations = 100;
  load(ball_at_wall(8, 10));
  for (int i = 0; i < 8; ++i) {
    const ContactSolveRecord solve = *engine->step().contact_solve;
    EXPECT_LE(solve.iterations, 100);
    EXPECT_EQ(solve.message, "");
  }
}

INSTANTIATE_ON_BACKENDS(ManifoldStall);

}  // namespace
}  // namespace stickslip
