#include "gpu/linear/factor_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/linear/systems.h"

namespace stickslip {
namespace {

// A lattice is too large for one task: subtrees of the first stage, and what lies above them.
TEST(FactorPlan, TasksOfAStageNeedOnlyEarlierStages) {
  const std::vector<Vec4i> tets = test::lattice_tets(9, 8, 7);
  std::vector<Vec2i> pairs;
  for (const Vec4i& tet : tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) pairs.push_back({std::max(tet[a], tet[b]), std::min(tet[a], tet[b])});
  const FactorPlan plan = make_factor_plan(std::vector<std::uint8_t>(9 * 8 * 7, 1), pairs, 100'000'000);
  ASSERT_GT(plan.stage_begin.size(), 2U);
  ASSERT_EQ(plan.sequence.size(), plan.panels.size());
  EXPECT_EQ(plan.stage_begin.back() + 1, static_cast<std::int32_t>(plan.task_begin.size()));
  std::vector<int> stage(plan.panels.size(), -1), task(plan.panels.size(), -1), turn(plan.panels.size(), -1);
  for (std::size_t s = 0; s + 1 < plan.stage_begin.size(); ++s)
    for (std::int32_t t = plan.stage_begin[s]; t < plan.stage_begin[s + 1]; ++t)
      for (std::int32_t k = plan.task_begin[t]; k < plan.task_begin[t + 1]; ++k) {
        EXPECT_EQ(turn[plan.sequence[k]], -1);
        stage[plan.sequence[k]] = static_cast<int>(s);
        task[plan.sequence[k]] = t;
        turn[plan.sequence[k]] = k;
      }
  double first = 0;
  for (std::size_t p = 0; p < plan.panels.size(); ++p) {
    ASSERT_GE(turn[p], 0);
    first += stage[p] == 0;
    for (std::int32_t u = plan.panels[p].updates_begin; u < plan.panels[p].updates_end; ++u) {
      const std::int32_t source = plan.updates[u].panel;
      EXPECT_TRUE(stage[source] < stage[p] || (task[source] == task[p] && turn[source] < turn[p]));
    }
  }
  EXPECT_GT(first, 0.5 * static_cast<double>(plan.panels.size()));
}

// Of a strip of n nodes that are coupled to their neighbours, L has about twice as many blocks as nodes. A
// bad order fills a triangle.
TEST(FactorPlan, FillOfAChainIsSmall) {
  constexpr std::int32_t n = 200;
  std::vector<Vec2i> pairs;
  for (std::int32_t i = 0; i < n; ++i)  // neighbours are far apart in the numbering
    pairs.push_back({(7 * i + 7) % n == 0 ? 0 : (7 * i + 7) % n, (7 * i) % n});
  const FactorPlan plan = make_factor_plan(std::vector<std::uint8_t>(n, 1), pairs, 100'000'000);
  EXPECT_LT(plan.values, 9 * 8 * n);
}

}  // namespace
}  // namespace stickslip
