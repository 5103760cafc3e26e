// Steps with barrier = cubic, where each contact has a stiffness of its own.
#include <algorithm>
#include <cmath>

#include "tests/step/barrier_al_fixture.h"

namespace stickslip {
namespace {

using fixtures::boxes;
using fixtures::kSettling;
using fixtures::pile;

constexpr double kCubeWeight = 9.81;  // of a box [N]

class CubicBarrier : public fixtures::BarrierAlTest {
 protected:
  CubicBarrier() { params.barrier = BarrierKind::cubic; }
};

TEST_P(CubicBarrier, CarriesTheWeightWithAndWithoutMultipliers) {
  params.newton_tolerance = 1e-4;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const double gap : {1e-2, 0.95}) {  // below which contacts get a multiplier, of d_hat
      SCOPED_TRACE(std::to_string(static_cast<int>(solver)) + ", " + std::to_string(gap));
      params.solver = solver;
      params.augmentation_gap = gap;
      Model model = boxes(2);
      load(model);
      const StepReport report = settle(kSettling);
      EXPECT_EQ(report.barrier_stiffness, 0) << "there is none of all contacts";
      EXPECT_GT(report.gap_min, 0.1 * params.d_hat);
      // Multipliers start from zero in every step: with many of them bodies jitter within the tolerance, and
      // the mean of the forces is the weight.
      constexpr int kMean = 40;
      double on_the_ground = 0, between = 0;
      for (int i = 0; i < kMean; ++i) {
        EXPECT_LT(settle(1).kinetic_energy, 1e-4);
        const auto [ground, upper] = upward_forces();
        on_the_ground += ground / kMean;
        between += upper / kMean;
      }
      EXPECT_NEAR(on_the_ground, 2 * kCubeWeight, 0.02 * kCubeWeight);
      EXPECT_NEAR(between, kCubeWeight, 0.01 * kCubeWeight);
    }
}

/// The force of the law, from the mass and Young's modulus of a box whose four lowest corners and the nodes
/// between carry it alike: the gaps at rest answer to them.
TEST_P(CubicBarrier, StifferAndHeavierBodiesKeepWiderGaps) {
  const auto gap_of = [&](BarrierKind kind, double young, double density) {
    Model model = boxes(1);
    model.materials[0].young = young;
    model.materials[0].density = density;
    params.solver = SolverKind::ipc;
    params.barrier = kind;
    load(model);
    return settle(kSettling).gap_min;
  };
  const double soft = gap_of(BarrierKind::cubic, 1e5, 1000), stiff = gap_of(BarrierKind::cubic, 1e7, 1000);
  EXPECT_GT(stiff, 1.05 * soft);
  EXPECT_LT(stiff, params.d_hat);
  // Ten times the weight on a stiffness that has hardly changed.
  EXPECT_LT(gap_of(BarrierKind::cubic, 1e7, 10000), stiff);
}

TEST_P(CubicBarrier, NothingPassesThrough) {
  params.check_intersections = true;
  params.newton_tolerance = 1e-2;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const double dt : {1.0 / 240, 1.0 / 60, 1.0 / 15}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(solver)) + ", dt " + std::to_string(dt));
      params.solver = solver;
      params.dt = dt;
      Model model = pile();
      load(model);
      int touched = 0;
      for (int i = 0; i < 40; ++i) {
        const StepReport report = step_unconverged();
        EXPECT_EQ(report.intersections, 0) << "step " << i;
        EXPECT_TRUE(report.converged) << "step " << i << ": " << report.stop_reason;
        touched += report.contacts > 0;
      }
      EXPECT_GT(touched, 5);
    }
}

TEST_P(CubicBarrier, MayBeSwitchedDuringARun) {
  params.newton_tolerance = 1e-2;
  params.check_intersections = true;
  Model model = pile();
  load(model);
  for (int i = 0; i < 60; ++i) {
    params.barrier = i / 5 % 2 == 0 ? BarrierKind::cubic : BarrierKind::logarithmic;
    params.solver = i / 10 % 2 == 0 ? SolverKind::ipc : SolverKind::barrier_al;
    engine->set_params(params);
    const StepReport report = step_unconverged();
    EXPECT_EQ(report.intersections, 0) << i;
    if (report.contacts > 0) {
      EXPECT_EQ(report.barrier_stiffness == 0, params.barrier == BarrierKind::cubic) << i;
    }
  }
}

INSTANTIATE_ON_BACKENDS(CubicBarrier);

}  // namespace
}  // namespace stickslip
