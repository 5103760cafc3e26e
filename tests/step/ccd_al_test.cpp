// Steps with `ccd_al`, constraints from CCD without a barrier: forces with analytic answers, no
// intersections, and changes of solver in mid-run.
#include <algorithm>
#include <cmath>

#include "tests/step/barrier_al_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_box;

constexpr double kBoxWeight = 9.81;  // [N] of a box of `boxes`

class CcdAl : public fixtures::BarrierAlTest {
 protected:
  CcdAl() { params.solver = SolverKind::ccd_al; }
};

TEST_P(CcdAl, MultipliersCarryTheWeightAtTheGapOfTheConstraints) {
  for (const int count : {1, 2}) {
    SCOPED_TRACE(std::to_string(count) + " boxes");
    Model model = fixtures::boxes(count);
    load(model);
    settle(fixtures::kSettling);
    for (int i = 0; i < 5; ++i) {
      const StepReport report = settle(1);
      const auto [ground, between] = upward_forces();
      EXPECT_NEAR(ground, count * kBoxWeight, 0.01 * kBoxWeight);
      EXPECT_NEAR(between, (count - 1) * kBoxWeight, 0.01 * kBoxWeight);
      // A gap of 0.1 d_hat, to within 5% of it.
      EXPECT_NEAR(report.gap_min, 0.1 * params.d_hat, 0.006 * params.d_hat);
      EXPECT_GT(report.multiplier_max, 0);
      EXPECT_LT(report.judgement->error, 2 * (params.d_hat / params.dt + 2 * params.eps_v));
    }
  }
}

/// Down a slope of 30 degrees with mu = 0.2: g (sin - mu cos).
TEST_P(CcdAl, SlidesDownASlopeAsCoulombAndNewtonSay) {
  const double angle = M_PI / 6, mu = 0.2;
  const fixtures::Vec3d normal{-std::sin(angle), std::cos(angle), 0};
  const fixtures::Vec3d down{-std::cos(angle), -std::sin(angle), 0};
  Model model;
  const fixtures::Vec3d center = (0.05 + 3e-4) * normal;
  add_box(model, "box", {0.1, 0.1, 0.1}, center, 2, 30);
  model.materials[0].mu = mu;
  model.half_spaces.push_back({normal, 0, mu});
  load(model);
  const auto speed = [&] {
    const State state = engine->state();
    return dot(down, fixtures::mean(state.velocities, 0, static_cast<int>(state.velocities.size())));
  };
  settle(30);
  const double before = speed();
  settle(30);
  const double expected = 9.81 * (std::sin(angle) - mu * std::cos(angle));
  EXPECT_NEAR((speed() - before) / (30 * params.dt), expected, 0.02 * expected);
}

/// Boxes that collide without gravity keep their momentum.
TEST_P(CcdAl, CollisionsKeepMomentum) {
  Model model;
  add_box(model, "left", {0.1, 0.1, 0.1}, {0, 0, 0}, 2, 0, {2, 0, 0});
  add_box(model, "right", {0.1, 0.1, 0.1}, {0.107, 0.013, 0.017}, 2);
  params.gravity = 0;
  params.newton_tolerance = 1e-6;
  load(model);
  double most = 0;
  for (int i = 0; i < 20; ++i) {
    const StepReport report = step();
    most = std::max(most, report.multiplier_max);
    EXPECT_NEAR(report.momentum[0], 2.0, 1e-4);
    EXPECT_NEAR(report.momentum[1], 0, 1e-4);
  }
  EXPECT_GT(most, 0) << "they collide";
}

/// 5 m/s are at least 50 mm in a step, ten times the thickness of the plate. The step of the impact may end
/// at its cap of iterations.
TEST_P(CcdAl, AFastThinPlateDoesNotTunnel) {
  Model model;
  add_box(model, "plate", {0.1, 0.005, 0.1}, {0.01, 0.15, 0.01}, 2, 0, {0, -5, 0});
  add_box(model, "target", {0.2, 0.005, 0.2}, {0, 0.0503, 0}, 2);
  params.gravity = 0;
  load(model);
  for (int i = 0; i < 10; ++i) step_unconverged();
  const State state = engine->state();
  const Object &plate = model.objects[0], &target = model.objects[1];
  EXPECT_GT(fixtures::mean(state.positions, plate.node_begin, plate.node_end)[1],
            fixtures::mean(state.positions, target.node_begin, target.node_end)[1]);
}

TEST_P(CcdAl, PilesFallWithoutIntersectionsWhileSolversChange) {
  Model model = fixtures::pile();
  load(model);
  const SolverKind order[]{SolverKind::ipc, SolverKind::ccd_al, SolverKind::barrier_al, SolverKind::ccd_al};
  for (int i = 0; i < 48; ++i) {
    params.solver = order[i / 6 % 4];
    engine->set_params(params);
    step_unconverged();
  }
}

/// As deformable boxes do.
TEST_P(CcdAl, AnAffineBoxRestsWithItsWeight) {
  Model model;
  add_box(model, "block", {0.1, 0.1, 0.1}, {0, 0.0503, 0}, 1, 0, {0, 0, 0}, fixtures::BoxBody::affine);
  model.half_spaces.push_back({{0, 1, 0}, 0, 0.5});
  load(model);
  settle(fixtures::kSettling);
  const StepReport report = settle(1);
  const auto [ground, between] = upward_forces();
  EXPECT_NEAR(ground, kBoxWeight, 0.01 * kBoxWeight);
  EXPECT_EQ(between, 0);
  EXPECT_GT(report.multiplier_max, 0);
  EXPECT_LT(report.body_strain, params.strain_bound);
}

INSTANTIATE_ON_BACKENDS(CcdAl);

}  // namespace
}  // namespace stickslip
