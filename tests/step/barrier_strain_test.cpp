// Steps whose bodies are strained too much: repeats with stiffer bodies, what the report says of them, and
// what a repeat that throws leaves.
#include <atomic>
#include <cmath>
#include <string_view>

#include "gpu/core/trace_span.h"
#include "tests/fixtures/interrupted_step.h"
#include "tests/step/barrier_bodies_fixture.h"

namespace stickslip {
namespace {

using fixtures::add_rigid_box;
using fixtures::drawn_box;
using fixtures::pose_at;
using Vec3d = Vec<double, 3>;

class BarrierStrain : public fixtures::BarrierBodiesTest {};

/// A body so far away that rounding of its nodes strains it beyond the bound.
Model far_box(Params& params) {
  params.strain_bound = 1e-7;
  params.gravity = 0;
  params.newton_tolerance = 0.1;
  Model model;
  add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({1e9, 1e9, 1e9}));
  return model;
}

TEST_P(BarrierStrain, StepsThatLeaveABodyStrainedDoNotCountAsConverged) {
  Model model = far_box(params);
  load(model);
  const StepReport report = engine->step();
  EXPECT_GT(report.body_strain, params.strain_bound);
  EXPECT_FALSE(report.converged);
  EXPECT_NE(report.stop_reason.find("strain_bound"), std::string::npos) << report.stop_reason;
}

TEST_P(BarrierStrain, BodiesStiffenByAFactorOfTenThousandAtMost) {
  params.gravity = 0;
  params.dt = 1e-4;
  Model model = drawn_box();
  // The strain after a step from rest under a force of 30 times the weight.
  const auto pull = [&](const Vec3d& target, double stiffness) {
    params.drag_stiffness = stiffness;
    engine->set_params(params);
    engine->set_drag(Drag{{0, 1, 2}, {0.25, 0.25, 0.5}, target});
    return engine->step();
  };
  load(model);
  const StepReport gentle = pull({0.1 + 0.24, 0, 0}, 1e4);
  ASSERT_TRUE(gentle.converged);
  ASSERT_EQ(gentle.strain_repeats, 0);
  engine->reset();
  const StepReport wild = pull({100, 0, 0}, 1e9);
  EXPECT_FALSE(wild.converged) << "the force asks for bodies that are a million times as stiff";
  EXPECT_GT(wild.body_strain, params.strain_bound);
  const BodyState at = body(0);
  const StepReport after = pull(at.pose.x + params.dt * at.velocity + Vec3d{0.1 + 0.24, 0, 0}, 1e4);
  EXPECT_GT(after.body_strain, 0.5e-4 * gentle.body_strain);
}

/// With a stiff spring this strains `drawn_box` beyond the bound at first.
const Drag kStrainingPull{{0, 1, 2}, {0.25, 0.25, 0.5}, {1, 0, 0}};

TEST_P(BarrierStrain, AStepThatDidNotConvergeIsNotRepeatedWithStifferOnes) {
  if (params.solver == SolverKind::ccd_al) GTEST_SKIP() << "its state has hardly moved after few iterations";
  Model model = drawn_box();
  params.drag_stiffness = 1e7;
  params.newton_iterations = 4;
  load(model);
  engine->set_drag(kStrainingPull);
  const StepReport report = engine->step();
  EXPECT_GT(report.body_strain, params.strain_bound);
  EXPECT_EQ(report.strain_repeats, 0);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.stop_reason, "iteration cap");
}

/// The first Newton step already turns a free body without strain.
TEST_P(BarrierStrain, OneIterationTurnsABody) {
  if (params.solver == SolverKind::ccd_al) GTEST_SKIP() << "its state follows in short straight ways";
  Model model;
  add_rigid_box(model, {0.1, 0.2, 0.3}, pose_at({0, 0, 0}));
  model.bodies[0].spin = {3, 4, 12};
  params.newton_iterations = 1;
  params.newton_start = NewtonStart::state;  // ahead, the body has turned already
  load(model);
  EXPECT_LT(engine->step().body_strain, 1e-9);
}

TEST_P(BarrierStrain, TheReportCountsAllAttemptsOfAStep) {
  Model model = drawn_box();
  params.drag_stiffness = 1e6;
  load(model);
  engine->set_drag(kStrainingPull);
  engine->set_tracing(true);
  const StepReport report = step();
  ASSERT_GT(report.strain_repeats, 0);
  const std::string_view name = "newton iteration";
  double seconds = 0;
  long iterations = 0;
  for (const TraceSpan& span : report.trace) {
    if (span.name != name) continue;
    seconds += span.end - span.begin;
    ++iterations;
  }
  EXPECT_EQ(report.newton_iterations, iterations);
  EXPECT_EQ(static_cast<long>(report.newton.size()), iterations);
  long pcg = 0;
  for (const NewtonRecord& record : report.newton) pcg += record.pcg_iterations;
  EXPECT_EQ(report.pcg_iterations, pcg);
  EXPECT_GE(report.seconds.total(), 0.999 * seconds);
}

/// In fresh runs of the same step, a flag is set after different times.
TEST_P(BarrierStrain, AnInterruptedRepeatLeavesTheStateOfTheStepBefore) {
  Model model = drawn_box();
  for (int i = 0; i < 30; ++i) add_rigid_box(model, {0.1, 0.1, 0.1}, pose_at({0, 0, 1.0 + i}));
  params.drag_stiffness = 1e6;
  std::atomic<bool> cancel = false;
  engine->set_cancel(&cancel);
  load(model);
  engine->set_drag(kStrainingPull);
  const double begin = trace_clock();
  ASSERT_GT(step().strain_repeats, 0);
  const double seconds = trace_clock() - begin;
  const int times = 40;
  int interrupted = 0;
  for (int i = 0; i < times; ++i) {
    engine->reset();
    const State before = engine->state();
    const bool ended = fixtures::interrupt_step(*engine, cancel, i * seconds / times);
    if (!ended) continue;
    ++interrupted;
    const State after = engine->state();
    EXPECT_EQ(after.frame, before.frame);
    for (std::size_t b = 0; b < before.bodies.size(); ++b) {
      ASSERT_EQ(after.bodies[b].pose.x, before.bodies[b].pose.x) << "body " << b;
      ASSERT_EQ(after.bodies[b].velocity, before.bodies[b].velocity) << "body " << b;
    }
    if (i % 8 == 0) step();
  }
  EXPECT_GT(interrupted, 0);
}

/// Repetitions with stiffer bodies add energy: the report says how much, and they end.
TEST_P(BarrierStrain, AHeavyBoxComesToRestOnALightOne) {
  params.newton_tolerance = Params{}.newton_tolerance;
  for (const double dt : {1e-3, 1.0 / 60}) {
    params.dt = dt;
    Model model;
    fixtures::add_floor(model);
    for (int i = 0; i < 2; ++i) add_rigid_box(model, {0.5, 0.5, 0.5}, pose_at({0.1 * i, 0.5 + i, 0}));
    model.materials.push_back(model.materials[0]);
    model.material_names.emplace_back("light");
    model.materials[1].density = model.materials[0].density / 1000;
    model.objects[0].material = 1;
    load(model);
    double energy = 0;
    int early_repeats = 0, late_repeats = 0;
    StepReport report;
    for (int i = 0; i < 500; ++i) {
      report = engine->step();
      const double now = report.kinetic_energy + report.gravity_energy + report.elastic_energy;
      if (i > 0) {
        EXPECT_NEAR(report.judgement->energy_change, now - energy, 1e-6 + 1e-9 * std::fabs(now)) << i;
      }
      energy = now;
      (i < 100 ? early_repeats : late_repeats) += i > 0 ? report.strain_repeats : 0;
    }
    EXPECT_GT(early_repeats, 0) << "no repetition was tested";
    EXPECT_EQ(late_repeats, 0);
    EXPECT_LT(report.kinetic_energy, 1e-3) << "of a tonne";
  }
}

TEST_P(BarrierStrain, RepeatsShareTheIterationsAndTheTimeOfOneStep) {
  Model model = far_box(params);
  load(model);
  const StepReport all = engine->step();
  ASSERT_GT(all.strain_repeats, 0);
  params.newton_iterations = all.newton_iterations - 1;
  engine->set_params(params);
  engine->reset();
  EXPECT_LE(engine->step().newton_iterations, params.newton_iterations);
  params.newton_iterations = 200;
  params.budget_ms = 1e-6;
  engine->set_params(params);
  engine->reset();
  const StepReport report = engine->step();
  EXPECT_EQ(report.strain_repeats, 0) << "the first attempt took longer than that";
  EXPECT_TRUE(report.stopped_by_budget);
  EXPECT_FALSE(report.converged);
}

INSTANTIATE_ON_BARRIERS(BarrierStrain);

}  // namespace
}  // namespace stickslip
