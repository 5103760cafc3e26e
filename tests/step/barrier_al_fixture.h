// Fixture for tests of the barrier-augmented Lagrangian: an engine that uses it, boxes above the ground, a
// pile.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "tests/fixtures/box_model.h"
#include "tests/fixtures/engine_fixture.h"

namespace stickslip::fixtures {

class BarrierAlTest : public EngineTest {
 protected:
  BarrierAlTest() { params.solver = SolverKind::barrier_al; }

  /// Steps `count` times and requires convergence; returns the last report.
  StepReport settle(int count) {
    StepReport report;
    for (int i = 0; i < count; ++i) report = step();
    return report;
  }

  /// Upward forces [N] of the contacts with the half-space, and of the contacts between bodies on the upper
  /// one.
  std::array<double, 2> upward_forces() {
    Snapshot snapshot;
    engine->snapshot(snapshot);
    std::array<double, 2> sum{};
    for (const ContactRecord& c : snapshot.contacts)
      sum[c.object_b >= 0] += c.normal_force * (c.object_b > c.object_a ? -c.normal[1] : c.normal[1]);
    return sum;
  }
};

/// One or two boxes above the ground; 1 kg each.
inline Model boxes(int count) {
  Model model;
  add_box(model, "lower", {0.1, 0.1, 0.1}, {0, 0.0515, 0}, 2);
  if (count > 1) add_box(model, "upper", {0.1, 0.1, 0.1}, {0.013, 0.1528, 0.017}, 2);
  model.half_spaces.push_back({});
  return model;
}

constexpr int kSettling = 90;

/// Six boxes that fall onto each other and the ground; initially separate.
inline Model pile() {
  Model model;
  for (int i = 0; i < 6; ++i)
    add_box(model, "box " + std::to_string(i), {0.1, 0.1, 0.1},
            {0.02 * (i % 3) + 0.003 * i, 0.08 + 0.14 * i, 0.015 * (i % 2)}, 1, 7.0 * i, {0, -1.0, 0});
  model.half_spaces.push_back({});
  return model;
}

inline const std::set<std::string> kStopReasons{"converged",    kFrictionFrozen, "friction does not converge",
                                                "budget",       "iteration cap", "line search failed",
                                                "contact limit"};

}  // namespace stickslip::fixtures
