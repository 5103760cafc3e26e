// The update rules of the barrier-augmented Lagrangian between iterations, and changes of every parameter
// between steps.
#include <algorithm>
#include <cmath>

#include "gpu/energy/barrier.h"
#include "gpu/model/element_group.h"
#include "tests/step/barrier_al_fixture.h"

namespace stickslip {
namespace {

using fixtures::boxes;
using fixtures::kSettling;
using fixtures::kStopReasons;
using fixtures::pile;
using fixtures::Vec3d;

class BarrierAlRules : public fixtures::BarrierAlTest {};

TEST_P(BarrierAlRules, EveryParameterMayChangeBetweenSteps) {
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
    for (const char* rule : {"jump", "ipc2020", "capped"}) run("sigma_rule", rule);
    for (const char* barrier : {"cubic", "log"}) run("barrier", barrier);
    for (const char* d_hat : {"1e-3", "4e-3", "2e-3"}) run("d_hat", d_hat);
    for (const char* friction : {"lagged", "newton"}) run("friction_update", friction);
    for (const char* limit : {"5", "0"}) run("contact_limit", limit);
  }
  EXPECT_GT(touched, steps / 2);
  EXPECT_GT(augmented, steps / 4);
  for (const Vec3d& p : engine->state().positions) EXPECT_TRUE(std::isfinite(p[0] + p[1] + p[2]));
}

/// Guo24 Alg.1, line 16: sigma grows up to a cap while the smallest gap is below 1% of d_hat.
TEST_P(BarrierAlRules, SigmaFollowsItsRuleBetweenIterations) {
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

/// [Li20 suppl.]: bounds from the masses, and sigma that doubles only where a gap below 1e-9 of the scene's
/// diagonal did not grow.
TEST_P(BarrierAlRules, SigmaOf2020StaysWithinItsBounds) {
  params.sigma_rule = SigmaRule::ipc2020;
  params.newton_tolerance = 1e-2;
  for (const SolverKind solver : {SolverKind::ipc, SolverKind::barrier_al}) {
    params.solver = solver;
    Model model = pile();
    load(model);
    double mass = 0;
    for (const Object& object : model.objects)
      for (const Vec4i& t : tets_of(model, object)) {
        const Vec3d& a = model.positions[static_cast<std::size_t>(t[0])];
        const auto edge = [&](int c) { return model.positions[static_cast<std::size_t>(t[c])] - a; };
        mass += model.materials[static_cast<std::size_t>(object.material)].density *
                dot(edge(1), cross(edge(2), edge(3))) / 6;
      }
    Vec3d low = model.positions[0], high = low;
    for (const Vec3d& x : model.positions) low = min(low, x), high = max(high, x);
    const double inertia = mass / static_cast<double>(model.node_count()) / (params.dt * params.dt);
    const double least = least_stiffness(inertia, norm(high - low), params.d_hat);
    EXPECT_NEAR(least * barrier_jet(1e-8 * norm(high - low), params.d_hat).second, 1e11 * inertia,
                1e-6 * 1e11 * inertia);
    bool touched = false;
    for (int i = 0; i < 30; ++i) {
      const StepReport report = step_unconverged();
      for (std::size_t k = 0; k < report.newton.size(); ++k) {
        const NewtonRecord& record = report.newton[k];
        if (record.contacts == 0) continue;
        touched = true;
        EXPECT_GE(record.barrier_stiffness, 0.999 * least) << "frame " << i;
        EXPECT_LE(record.barrier_stiffness, 100.1 * least) << "frame " << i;
        const bool tiny = record.gap_min >= 0 && record.gap_min < 1e-9 * norm(high - low);
        if (k > 0 && !tiny) {
          EXPECT_EQ(record.barrier_stiffness, report.newton[k - 1].barrier_stiffness);
        }
      }
    }
    EXPECT_TRUE(touched);
  }
}

TEST_P(BarrierAlRules, MultipliersWaitForTheGradientAtTheirPace) {
  // With a pace that no step reaches, the multipliers stay at the first update: zero.
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
TEST_P(BarrierAlRules, TheGradientSatisfiesAGradientTolerance) {
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
      // Lagged friction is refreshed at a minimum, and Newton continues.
      if (report.stop_reason == "converged") {
        EXPECT_GT(report.newton[report.newton.size() - 2].gradient_norm, 1e-4 * first) << "it stops at once";
      }
      ++judged;
    }
    EXPECT_GT(judged, 20);
  }
}

/// Every value of every choice; half and twice every number.
TEST_P(BarrierAlRules, EveryParameterOfTheRegistryMayChangeBetweenSteps) {
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
      if (info.name == "solver" && value == static_cast<double>(SolverKind::velocity))
        continue;  // no rigid bodies
      SCOPED_TRACE(std::string(info.name) + " = " + std::to_string(value));
      params = usual;
      set_param(&params, info, info.type == stickslip::ParamType::integer ? std::floor(value) : value);
      engine->set_params(params);
      const StepReport report = engine->step();
      EXPECT_LE(report.intersections, 0);  // -1: not checked
      EXPECT_TRUE(std::isfinite(report.kinetic_energy + report.elastic_energy + report.multiplier_max));
      EXPECT_NE(report.gap_min, 0);
      EXPECT_EQ(kStopReasons.count(report.stop_reason), 1u) << report.stop_reason;
    }
    params = usual;
    engine->set_params(params);
    engine->set_state(start);
  }
}

INSTANTIATE_ON_BACKENDS(BarrierAlRules);

}  // namespace
}  // namespace stickslip
