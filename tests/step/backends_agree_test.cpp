// The same model on two engines: the CPU backend with one thread and with several must agree bitwise; CPU and
// CUDA agree within a bound, because the order of sums differs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpu/core/real.h"
#include "gpu/engine.h"
#include "tests/fixtures/backend_fixture.h"
#include "tests/fixtures/box_model.h"

namespace stickslip {
namespace {

using fixtures::add_box;
using fixtures::Vec3d;

/// Two engines, and the largest distance between their nodes after `kSteps`.
struct Pair {
  const char* name;
  Backend first, second;
  int first_threads, second_threads;
  double tolerance;  // [m]
};

constexpr int kSteps = 15;
// Newton stops at 1e-7 of the scene's size per second, which two backends reach from different sides. Seen
// between solves of different accuracy on the CPU: below 2e-10 m.
constexpr Pair kPairs[] = {
    {"cpu_1_and_3_threads", Backend::cpu, Backend::cpu, 1, 3, 0},
    {"cpu_and_cuda", Backend::cpu, Backend::cuda, 2, 0, sizeof(Real) == 8 ? 2e-8 : 2e-3},
};

/// The first is the CPU, which is always there.
Backend backend_of(const Pair& pair) { return pair.second; }

class BackendsAgree : public fixtures::BackendTestOf<Pair> {
 protected:
  BackendsAgree() {
    params.newton_tolerance = sizeof(Real) == 8 ? 1e-7 : 1e-4;
    params.check_intersections = true;
  }

  /// Loads `model` into both engines, steps them side by side and compares after every step.
  void compare(Model& model) {
    finalize(model);
    const Pair& pair = GetParam();
    const std::unique_ptr<Engine> first = make_engine(pair.first, pair.first_threads),
                                  second = make_engine(pair.second, pair.second_threads);
    for (Engine* engine : {first.get(), second.get()}) {
      engine->set_params(params);
      engine->load(model);
    }
    double first_seconds = 0, second_seconds = 0;
    int contacts = 0;
    for (int i = 0; i < kSteps; ++i) {
      SCOPED_TRACE("step " + std::to_string(i + 1));
      const StepReport a = first->step(), b = second->step();
      first_seconds += a.seconds.total();
      second_seconds += b.seconds.total();
      contacts = std::max(contacts, a.contacts);
      EXPECT_TRUE(a.converged && b.converged) << a.stop_reason << " / " << b.stop_reason;
      EXPECT_EQ(a.intersections, 0);
      EXPECT_EQ(b.intersections, 0);
      const State at = first->state(), bt = second->state();
      double apart = 0;
      for (std::size_t n = 0; n < at.positions.size(); ++n)
        apart = std::max(apart, norm(at.positions[n] - bt.positions[n]));
      ASSERT_LE(apart, pair.tolerance);
    }
    EXPECT_EQ(contacts > 0, contacts_expected);
    RecordProperty("first_ms_per_step", std::to_string(1e3 * first_seconds / kSteps));
    RecordProperty("second_ms_per_step", std::to_string(1e3 * second_seconds / kSteps));
  }

  Params params;
  bool contacts_expected = true;
};

TEST_P(BackendsAgree, OnASpinningSoftBar) {
  Model model;
  Object& bar = add_box(model, "bar", {0.3, 0.05, 0.05}, {0, 0, 0}, 4);
  for (int i = bar.node_begin; i < bar.node_end; ++i)
    model.velocities[i] = cross(Vec3d{0, 0, 8}, model.positions[i]);
  contacts_expected = false;
  compare(model);
}

TEST_P(BackendsAgree, OnABoxThatSlidesWithFriction) {
  Model model;
  add_box(model, "box", {0.1, 0.1, 0.1}, {0, 0.052, 0}, 3, 0, {0.5, 0, 0.2});
  model.half_spaces.push_back({});
  compare(model);
}

TEST_P(BackendsAgree, OnBoxesThatCollide) {
  Model model;
  add_box(model, "low", {0.1, 0.1, 0.1}, {0, 0.055, 0}, 2);
  add_box(model, "middle", {0.1, 0.1, 0.1}, {0.02, 0.175, 0.01}, 2, 12, {0, -1, 0});
  add_box(model, "high", {0.08, 0.08, 0.08}, {-0.01, 0.3, -0.01}, 2, 33, {0, -2, 0});
  model.half_spaces.push_back({});
  compare(model);
}

INSTANTIATE_TEST_SUITE_P(Engines, BackendsAgree, ::testing::ValuesIn(kPairs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stickslip
