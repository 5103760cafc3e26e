// The barrier-augmented Lagrangian through the Engine interface: equilibrium with a much too weak barrier,
// the limit on contacts, and changes of method between steps.
#include <algorithm>
#include <cmath>

#include "tests/step/barrier_al_fixture.h"

namespace stickslip {
namespace {

using fixtures::boxes;
using fixtures::kSettling;
using fixtures::kStopReasons;
using fixtures::mean;
using fixtures::pile;
using fixtures::Vec3d;

class BarrierAl : public fixtures::BarrierAlTest {};

constexpr double kWeight = 9.81;  // of a box [N]

TEST_P(BarrierAl, MultipliersWidenTheGapOfAWeakBarrierAtRest) {
  Model model = boxes(1);
  params.barrier_stiffness = 6;  // a hundredth of the adaptive value
  params.barrier_growth = 1;
  params.solver = SolverKind::ipc;
  load(model);
  const StepReport plain = settle(kSettling);
  params.solver = SolverKind::barrier_al;
  load(model);
  settle(kSettling);
  for (int i = 0; i < 10; ++i) {
    const StepReport augmented = settle(1);
    EXPECT_GT(augmented.augmented, 0);
    EXPECT_GT(augmented.gap_min, 1.1 * plain.gap_min);
    EXPECT_LT(augmented.kinetic_energy, 1e-8);
    EXPECT_NEAR(upward_forces()[0], kWeight, 0.01 * kWeight);
  }
}

/// With an even weaker barrier the multipliers, which start at zero in every step, let the box jitter within
/// d_hat. The forces average to the weight, and in each step they match the motion.
TEST_P(BarrierAl, CarriesTheWeightWithABarrierAThousandTimesTooWeak) {
  for (const int count : {1, 2}) {
    SCOPED_TRACE(std::to_string(count) + " boxes");
    Model model = boxes(count);
    params.solver = SolverKind::ipc;
    params.barrier_stiffness = 0;
    params.newton_tolerance = 1e-4;
    load(model);
    const double chosen = settle(kSettling).barrier_stiffness;
    ASSERT_GT(chosen, 0);

    params.barrier_stiffness = chosen / 1000;
    params.barrier_growth = 1;
    load(model);
    const StepReport plain = settle(kSettling);
    EXPECT_LT(plain.gap_min, params.augmentation_gap * params.d_hat) << "too weak to hold the gap";
    EXPECT_EQ(plain.augmented, 0);

    params.solver = SolverKind::barrier_al;
    params.newton_tolerance = 1e-6;  // gaps are so small that the force needs the distance to a nanometre
    load(model);
    double momentum = settle(kSettling).momentum[1], gap = 0, multiplier = 0;
    std::array<double, 2> mean_forces{};
    const int steps = 60;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = settle(1);
      EXPECT_EQ(report.barrier_stiffness, params.barrier_stiffness);
      const auto [ground, between] = upward_forces();
      EXPECT_NEAR(ground, count * kWeight + (report.momentum[1] - momentum) / params.dt, 0.01 * kWeight);
      momentum = report.momentum[1];
      mean_forces[0] += ground / steps;
      mean_forces[1] += between / steps;
      gap += report.gap_min / steps;
      multiplier += report.multiplier_max / steps;
    }
    EXPECT_NEAR(mean_forces[0], count * kWeight, 0.01 * count * kWeight);
    EXPECT_NEAR(mean_forces[1], (count - 1) * kWeight, 0.01 * kWeight);
    EXPECT_GT(gap, plain.gap_min);
    EXPECT_LT(gap, params.d_hat);
    EXPECT_GT(multiplier, 0.05 * kWeight) << "nine nodes share it";
  }
}

TEST_P(BarrierAl, ContactRecordsHoldTheirMultipliers) {
  Model model = boxes(1);
  params.barrier_stiffness = 1;
  load(model);
  const StepReport report = settle(kSettling);
  Snapshot snapshot;
  engine->snapshot(snapshot);
  ASSERT_EQ(static_cast<int>(snapshot.contacts.size()), report.contacts);
  int augmented = 0;
  float largest = 0;
  for (const ContactRecord& c : snapshot.contacts) {
    augmented += c.augmented;
    largest = std::max(largest, c.multiplier);
    if (!c.augmented) {
      EXPECT_EQ(c.multiplier, 0);
    }
    EXPECT_GE(c.normal_force, c.multiplier) << "inside d_hat the barrier adds to it";
    EXPECT_LT(c.gap, params.d_hat);
  }
  EXPECT_GT(augmented, 0);
  EXPECT_LE(augmented, report.augmented);
  EXPECT_FLOAT_EQ(largest, static_cast<float>(report.multiplier_max));
}

TEST_P(BarrierAl, RestsAtTheHeightOfThePlainBarrierWithinDHat) {
  Model model = boxes(2);
  std::vector<Vec3d> ends[2];
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    params.solver = solver;
    load(model);
    settle(kSettling);
    const auto [ground, between] = upward_forces();
    EXPECT_NEAR(ground, 2 * kWeight, 0.02 * kWeight);
    EXPECT_NEAR(between, kWeight, 0.02 * kWeight);
    for (const Object& object : model.objects)
      ends[solver == SolverKind::barrier_al].push_back(
          mean(engine->state().positions, object.node_begin, object.node_end));
  }
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(ends[0][i][1], ends[1][i][1], (i + 1) * params.d_hat) << i;
}

TEST_P(BarrierAl, APileStaysWithinTheContactLimit) {
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    SCOPED_TRACE(static_cast<int>(solver));
    params.solver = solver;
    params.newton_tolerance = 1e-2;
    params.contact_limit = 0;
    Model model = pile();
    load(model);
    int most = 0;
    const int steps = 50;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = step_unconverged();
      most = std::max(most, report.contacts);
      EXPECT_EQ(report.contact_limit_halvings, 0);
      EXPECT_FALSE(report.contact_limit_exceeded);
    }
    const State crowded = engine->state();
    ASSERT_GT(most, 20);

    params.contact_limit = most / 2;
    load(model);
    int halvings = 0, stopped = 0;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = step_unconverged();
      EXPECT_LE(report.contacts, params.contact_limit) << "frame " << report.frame;
      EXPECT_FALSE(report.contact_limit_exceeded) << "frame " << report.frame;
      EXPECT_EQ(kStopReasons.count(report.stop_reason), 1u) << report.stop_reason;
      EXPECT_EQ(report.converged, report.stop_reason.rfind("converged", 0) == 0);
      int of_iterations = 0;
      for (const NewtonRecord& record : report.newton) {
        EXPECT_LE(record.contacts, params.contact_limit);
        EXPECT_TRUE(std::isfinite(record.energy));
        of_iterations += record.contact_limit_halvings;
      }
      EXPECT_EQ(report.contact_limit_halvings, of_iterations);
      halvings += of_iterations;
      stopped += report.stop_reason == "contact limit";
    }
    EXPECT_GT(halvings, 0);
    EXPECT_GT(stopped, 0) << "the pile would go on";

    // A state with more contacts cannot satisfy the limit: the step is taken and reports that.
    params.contact_limit = 1;
    engine->set_params(params);
    engine->set_state(crowded);
    const StepReport report = step_unconverged();
    EXPECT_TRUE(report.contact_limit_exceeded);
    EXPECT_GT(report.contacts, 1);
    EXPECT_TRUE(std::isfinite(report.kinetic_energy));
  }
}

TEST_P(BarrierAl, ThePlainBarrierContinuesAsInAFreshEngine) {
  Model model = boxes(2);
  params.barrier_stiffness = 1;
  load(model);
  for (int i = 0; i < 20; ++i) step_unconverged();
  const State between = engine->state();
  params.solver = SolverKind::ipc;
  const auto go_on = [&](Engine& other) {
    other.set_params(params);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(other.step().augmented, 0);
    return other.state();
  };
  const State after = go_on(*engine);
  const auto fresh = make_engine(GetParam(), 2);
  fresh->set_params(params);
  fresh->load(model);
  fresh->set_state(between);
  const State alone = go_on(*fresh);
  EXPECT_EQ(after.positions, alone.positions);
  EXPECT_EQ(after.velocities, alone.velocities);
}

TEST(BarrierAlDeterminism, TheCpuGivesTheSameBitsForAnyNumberOfThreads) {
  Model model = boxes(2);
  finalize(model);
  std::vector<State> ends;
  for (const int threads : {1, 2, 5}) {
    const auto engine = make_engine(Backend::cpu, threads);
    Params params;
    params.solver = SolverKind::barrier_al;
    params.barrier_stiffness = 1;
    engine->set_params(params);
    engine->load(model);
    int augmented = 0;
    for (int i = 0; i < 20; ++i) augmented += engine->step().augmented;
    EXPECT_GT(augmented, 0);
    ends.push_back(engine->state());
  }
  for (const State& end : ends) {
    EXPECT_EQ(end.positions, ends[0].positions);
    EXPECT_EQ(end.velocities, ends[0].velocities);
  }
}

INSTANTIATE_ON_BACKENDS(BarrierAl);

}  // namespace
}  // namespace stickslip
