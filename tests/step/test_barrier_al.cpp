// The barrier-augmented Lagrangian through the Engine interface: equilibrium with a barrier that is far too
// weak, the limit on contacts, and changes of method and parameters between steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_test.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::mean;
using fixtures::Vec3d;

class BarrierAl : public fixtures::EngineTest, public testing::WithParamInterface<Backend> {
 protected:
  void SetUp() override {
    start(GetParam());
    params.solver = SolverKind::barrier_al;
  }

  /// Steps `count` times and requires convergence too; the last report.
  StepReport settle(int count) {
    StepReport report;
    for (int i = 0; i < count; ++i) report = step();
    return report;
  }

  /// Upward forces [N] of the contacts with the half-space, and of those between bodies on the upper one.
  std::array<double, 2> upward_forces() {
    Snapshot snapshot;
    engine->snapshot(snapshot);
    std::array<double, 2> sum{};
    for (const ContactRecord& c : snapshot.contacts)
      sum[c.object_b >= 0] += c.normal_force * (c.object_b > c.object_a ? -c.normal[1] : c.normal[1]);
    return sum;
  }
};

/// A box over the ground, or two; 1 kg each.
Model boxes(int count) {
  Model model;
  add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0515, 0}, 2);
  if (count > 1) add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1528, 0.017}, 2);
  model.half_spaces.push_back({});
  return model;
}

constexpr double kWeight = 9.81;  // of a box [N]
constexpr int kSettling = 90;

TEST_P(BarrierAl, multipliers_widen_the_gap_of_a_weak_barrier_at_rest) {
  Model model = boxes(1);
  params.barrier_stiffness = 6;  // a hundredth of what adapts
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

/// With an even weaker barrier multipliers, which begin at zero in every step, leave the box a jitter within
/// d_hat: forces equal the weight on average, and in each step they are those of the motion.
TEST_P(BarrierAl, carries_the_weight_with_a_barrier_a_thousand_times_too_weak) {
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
    params.newton_tolerance = 1e-6;  // gaps are so small that a force needs its distance to the nanometre
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

TEST_P(BarrierAl, records_of_contacts_tell_their_multipliers) {
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

TEST_P(BarrierAl, rests_at_the_height_of_the_plain_barrier_within_d_hat) {
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

/// Six boxes that fall on each other and on the ground; they start apart.
Model pile() {
  Model model;
  for (int i = 0; i < 6; ++i)
    add_box(model, "box " + std::to_string(i), {0.1, 0.1, 0.1},
            {0.02 * (i % 3) + 0.003 * i, 0.08 + 0.14 * i, 0.015 * (i % 2)}, 1, 7.0 * i, {0, -1.0, 0});
  model.half_spaces.push_back({});
  return model;
}

const std::set<std::string> kStopReasons{"converged",     "converged, friction frozen", "budget",
                                         "iteration cap", "line search failed",         "contact limit"};

TEST_P(BarrierAl, a_pile_stays_within_the_contact_limit) {
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

    // From a state that has more, the limit cannot hold: the step is made and says so.
    params.contact_limit = 1;
    engine->set_params(params);
    engine->set_state(crowded);
    const StepReport report = step_unconverged();
    EXPECT_TRUE(report.contact_limit_exceeded);
    EXPECT_GT(report.contacts, 1);
    EXPECT_TRUE(std::isfinite(report.kinetic_energy));
  }
}

TEST_P(BarrierAl, every_parameter_may_change_between_steps) {
  Model model = pile();
  params.newton_tolerance = 1e-2;
  load(model);
  for (int i = 0; i < 25; ++i) step_unconverged();
  int touched = 0, augmented = 0, steps = 0;
  const auto run = [&](const char* name, const std::string& value) {
    SCOPED_TRACE(std::string(name) + " = " + value);
    set_param(&params, *find_param(param_table(), name), value);
    engine->set_params(params);
    for (int i = 0; i < 2; ++i, ++steps) {
      const StepReport report = step_unconverged();
      touched += report.contacts > 0;
      augmented += report.augmented > 0;
      EXPECT_TRUE(std::isfinite(report.kinetic_energy + report.elastic_energy + report.multiplier_max));
      EXPECT_NE(report.gap_min, 0);
      if (params.solver == SolverKind::ipc) {
        EXPECT_EQ(report.augmented, 0);
        EXPECT_EQ(report.multiplier_max, 0);
      }
    }
  };
  for (const char* stiffness : {"0", "10"}) {
    run("barrier_stiffness", stiffness);
    run("solver", "ipc");
    run("solver", "barrier_al");
    for (const char* gap : {"1", "1e-6", "0.3"}) run("augmentation_gap", gap);
    for (const char* update : {"value", "derivative"}) {
      run("multiplier_update", update);
      for (const char* end : {"together", "singly"}) {
        run("augmentation_end", end);
        for (const char* pace : {"1e6", "1e-6", "0.1"}) run("multiplier_pace", pace);
      }
    }
    for (const char* rule : {"jump", "capped"}) run("sigma_rule", rule);
    for (const char* d_hat : {"1e-3", "4e-3", "2e-3"}) run("d_hat", d_hat);
    for (const char* friction : {"lagged", "newton"}) run("friction_update", friction);
    for (const char* limit : {"5", "0"}) run("contact_limit", limit);
  }
  EXPECT_GT(touched, steps / 2);
  EXPECT_GT(augmented, steps / 4);
  for (const Vec3d& p : engine->state().positions) EXPECT_TRUE(std::isfinite(p[0] + p[1] + p[2]));
}

/// Guo24 Alg.1, line 16: while the smallest gap is below 1% of d_hat sigma grows, up to a cap.
TEST_P(BarrierAl, sigma_follows_its_rule_between_iterations) {
  params.barrier_floor = 1e-4;  // weak enough for tight gaps
  params.barrier_growth = 3;
  params.barrier_cap = 20;
  params.newton_tolerance = 1e-2;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al})
    for (const SigmaRule rule : {SigmaRule::capped, SigmaRule::jump}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(solver)) + ", rule " +
                   std::to_string(static_cast<int>(rule)));
      params.solver = solver;
      params.sigma_rule = rule;
      Model model = pile();
      load(model);
      int raises = 0, kept = 0;
      for (int i = 0; i < 30; ++i) {
        const std::vector<NewtonRecord> records = step_unconverged().newton;
        const double first = records.empty() ? 0 : records.front().barrier_stiffness;
        for (std::size_t k = 1; k < records.size(); ++k) {
          const double before = records[k - 1].barrier_stiffness, now = records[k].barrier_stiffness;
          const double grown = params.barrier_growth * before, cap = params.barrier_cap * first;
          const double gap = records[k].gap_min, last = records[k - 1].gap_min;
          const bool tight = gap >= 0 && gap < 0.01 * params.d_hat;
          const bool opened = gap > last && last >= 0;
          const bool raises_now = tight && (solver == SolverKind::barrier_al || !opened);
          const double want = !raises_now               ? before
                              : rule == SigmaRule::jump ? std::max(grown, cap)
                                                        : std::min(grown, cap);
          EXPECT_NEAR(now, want, 1e-6 * want) << "frame " << i << ", iteration " << k << ", gap " << gap;
          raises += now > before;
          kept += tight && now == before;
        }
      }
      EXPECT_GT(raises, 0);
      if (solver == SolverKind::barrier_al && rule == SigmaRule::jump) {
        EXPECT_EQ(kept, 0);
      }
    }
}

TEST_P(BarrierAl, multipliers_wait_for_the_gradient_at_their_pace) {
  // With a pace that no step reaches, the multipliers are those of the first change: none.
  double largest[2] = {0, 0};
  int augmented[2] = {0, 0};
  for (const bool waits : {true, false}) {
    params.multiplier_pace = waits ? 1e-6 : 1e6;
    params.barrier_stiffness = 1;
    params.newton_iterations = 12;
    Model model = boxes(1);
    load(model);
    for (int i = 0; i < kSettling; ++i) {
      const StepReport report = step_unconverged();
      largest[waits] = std::max(largest[waits], report.multiplier_max);
      for (const NewtonRecord& record : report.newton) augmented[waits] += record.augmented;
    }
  }
  EXPECT_GT(augmented[0], 0);
  EXPECT_GT(largest[0], largest[1]);
}

/// The residual test of Alg.1 on the gradient.
TEST_P(BarrierAl, a_gradient_tolerance_is_met_by_the_gradient) {
  params.newton_stop = NewtonStop::gradient;
  params.newton_tolerance = 1e-4;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    params.solver = solver;
    Model model = pile();
    load(model);
    int judged = 0;
    for (int i = 0; i < 30; ++i) {
      const StepReport report = step();
      ASSERT_FALSE(report.newton.empty());
      const double first = report.newton.front().gradient_norm, last = report.newton.back().gradient_norm;
      if (report.newton.size() < 2) continue;
      EXPECT_LE(last, 1e-4 * first);
      // Friction that was frozen is refreshed at a minimum, and Newton goes on.
      if (report.stop_reason == "converged") {
        EXPECT_GT(report.newton[report.newton.size() - 2].gradient_norm, 1e-4 * first) << "it stops at once";
      }
      ++judged;
    }
    EXPECT_GT(judged, 20);
  }
}

/// Every value of every choice, half and twice every number.
TEST_P(BarrierAl, every_parameter_of_the_registry_may_change_between_steps) {
  Model model = pile();
  params.newton_tolerance = 1e-2;
  params.newton_iterations = 30;
  load(model);
  for (int i = 0; i < 25; ++i) step_unconverged();
  const Params usual = params;
  const State start = engine->state();
  for (const ParamInfo& info : param_table()) {
    std::vector<double> values;
    if (info.type == stickslip::ParamType::choice || info.type == stickslip::ParamType::boolean)
      for (double value = info.low; value <= info.high; ++value) values.push_back(value);
    else
      for (const double factor : {0.5, 2.0})
        values.push_back(std::clamp(factor * info.default_value, info.low, info.high));
    for (const double value : values) {
      SCOPED_TRACE(std::string(info.name) + " = " + std::to_string(value));
      params = usual;
      set_param(&params, info, info.type == stickslip::ParamType::integer ? std::floor(value) : value);
      engine->set_params(params);
      const StepReport report = engine->step();
      EXPECT_LE(report.intersections, 0);  // -1: not looked for
      EXPECT_TRUE(std::isfinite(report.kinetic_energy + report.elastic_energy + report.multiplier_max));
      EXPECT_NE(report.gap_min, 0);
      EXPECT_EQ(kStopReasons.count(report.stop_reason), 1u) << report.stop_reason;
    }
    params = usual;
    engine->set_params(params);
    engine->set_state(start);
  }
}

TEST_P(BarrierAl, nothing_of_it_is_left_for_the_plain_barrier) {
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

TEST(BarrierAlDeterminism, the_cpu_gives_the_same_bits_for_any_number_of_threads) {
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

INSTANTIATE_TEST_SUITE_P(Backends, BarrierAl, testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& info) { return info.param == Backend::cpu ? "cpu" : "cuda"; });

}  // namespace
}  // namespace stickslip
