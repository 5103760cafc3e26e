// Fixture for tests of rigid bodies under the barrier solvers.
#pragma once

#include "gpu/model/rigid_body.h"
#include "tests/fixtures/engine_fixture.h"
#include "tests/fixtures/rigid_model.h"

namespace stickslip::fixtures {

class BarrierBodiesTest : public EngineTestOf<BackendSolver> {
 protected:
  BarrierBodiesTest() {
    params.solver = GetParam().solver;
    params.newton_tolerance = 1e-5;
  }

  void prepare() override {
    if (sizeof(Real) < 8) GTEST_SKIP() << "the tolerances are those of double";
    EngineTestOf::prepare();
  }
  /// Steps, and checks what holds after every step.
  StepReport step() {
    StepReport report = EngineTestOf::step();
    EXPECT_GE(report.body_strain, 0);
    EXPECT_LE(report.body_strain, params.strain_bound);
    return report;
  }
  BodyState body(std::size_t b) { return engine->state().bodies[b]; }
};

/// A box with a triangle to pull it at: the middle of its face at x = 0.1 m is at the weights 1/4, 1/4, 1/2.
inline Model drawn_box() {
  Model model;
  model.material_names = {"m"};
  model.materials = {Material{}};
  BodyPart part = make_part(ShapeKind::box, {0.1, 0.1, 0.1});
  part.nodes = {{0.1, 0.1, 0.1}, {0.1, 0.1, -0.1}, {0.1, -0.1, 0}};
  part.triangles = {{0, 1, 2}};
  add_body(model, "box", assemble({part}), 0, {});
  return model;
}

}  // namespace stickslip::fixtures

/// Runs a suite with all barrier solvers.
#define INSTANTIATE_ON_BARRIERS(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(                                                                               \
      Backends, suite,                                                                                    \
      ::testing::Values(                                                                                  \
          stickslip::fixtures::BackendSolver{stickslip::Backend::cpu, stickslip::SolverKind::ipc},        \
          stickslip::fixtures::BackendSolver{stickslip::Backend::cpu, stickslip::SolverKind::barrier_al}, \
          stickslip::fixtures::BackendSolver{stickslip::Backend::cpu, stickslip::SolverKind::ccd_al},     \
          stickslip::fixtures::BackendSolver{stickslip::Backend::cuda, stickslip::SolverKind::ipc}),      \
      stickslip::fixtures::ParamName{})
