#include "bench/memory_bench.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/cube_stacks.h"

namespace stickslip {
namespace {

TEST(CubeStacks, HaveTheGapsOfTheirColumns) {
  constexpr double d_hat = 1e-3;
  const Model model = cube_stacks(3, 1, d_hat);
  EXPECT_EQ(model.tets.size(), 6u * kStackCubeTets);
  EXPECT_EQ(model.node_count(), 6u * kStackCubeNodes);
  for (int column = 0; column < 3; ++column) {
    const Object& lower = model.objects[static_cast<std::size_t>(2 * column)];
    const Object& upper = model.objects[static_cast<std::size_t>(2 * column + 1)];
    double top = -1, bottom = 1;
    for (int i = lower.node_begin; i < lower.node_end; ++i)
      top = std::max(top, model.positions[static_cast<std::size_t>(i)][1]);
    for (int i = upper.node_begin; i < upper.node_end; ++i)
      bottom = std::min(bottom, model.positions[static_cast<std::size_t>(i)][1]);
    EXPECT_NEAR(bottom - top, (column < 1 ? 0.5 : 10) * d_hat, 1e-12);
  }
}

TEST(MemoryBench, FindsBytesATetAndContactAboveTheirFloors) {
  BenchResult result;
  add_memory_slopes(Backend::cpu, 1, 3, result);
  ASSERT_EQ(result.figures.size(), 4u);
  for (const BenchFigure& f : result.figures) {
    EXPECT_TRUE(std::isfinite(f.value)) << f.name;
    EXPECT_GT(f.floor, 0) << f.name;
    EXPECT_GT(f.value, f.floor) << f.name;
  }
}

TEST(MemoryBench, ShowsWhetherASceneFits) {
  constexpr double tets = 2 * kStackCubeTets;
  BenchResult fits, does_not;
  add_built_scene(Backend::cpu, 1, tets, 100, 1e9, fits);
  ASSERT_EQ(fits.figures.size(), 4u);
  const double bytes = 1e9 * fits.figures[0].value;
  EXPECT_GT(bytes, 100 * tets);
  EXPECT_LT(bytes, 1e9);
  EXPECT_NEAR(fits.figures[1].value, bytes / tets, 1e-6);
  EXPECT_EQ(fits.figures[0].name.find("with 0 contacts"), std::string::npos) << fits.figures[0].name;
  add_built_scene(Backend::cpu, 1, tets, 100, 0.5 * bytes, does_not);
  EXPECT_TRUE(does_not.figures.empty());
  ASSERT_EQ(does_not.notes.size(), 1u);
  EXPECT_NE(does_not.notes[0].find("NOT"), std::string::npos) << does_not.notes[0];
  BenchResult again;
  add_built_scene(Backend::cpu, 1, tets, 100, 1e9, again);
  EXPECT_EQ(again.figures.size(), 4u) << "the limit stayed";
}

}  // namespace
}  // namespace stickslip
