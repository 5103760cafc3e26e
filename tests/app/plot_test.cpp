#include "app/viewer/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

TEST(Plot, LinearTicksAreRoundFewAndInside) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-9, 9), offset(-3, 3);
  for (int i = 0; i < 1000; ++i) {
    const double width = std::pow(10, exponent(random)), low = offset(random) * width;
    const std::vector<double> ticks = linear_ticks(low, low + width);
    ASSERT_GE(ticks.size(), 2u);
    ASSERT_LE(ticks.size(), 6u);
    for (const double tick : ticks) {
      EXPECT_GE(tick, low - 1e-6 * width);
      EXPECT_LE(tick, low + width + 1e-6 * width);
    }
    const double step = ticks[1] - ticks[0];
    const double lead = step / std::pow(10, std::floor(std::log10(step * (1 + 1e-9))));
    EXPECT_TRUE(std::abs(lead - 1) < 1e-6 || std::abs(lead - 2) < 1e-6 || std::abs(lead - 5) < 1e-6) << step;
  }
}

TEST(Plot, DecadeTicksArePowersOfTen) {
  EXPECT_EQ(decade_ticks(1e-3, 1, 4).size(), 4u);
  const std::vector<double> ticks = decade_ticks(1e-12, 1e6, 4);
  ASSERT_LE(ticks.size(), 4u);
  ASSERT_GE(ticks.size(), 2u);
  for (const double tick : ticks) EXPECT_NEAR(std::log10(tick), std::round(std::log10(tick)), 1e-9);
}

TEST(Plot, APartHasItsPointsAndOneMoreOnEachSide) {
  const std::vector<float> x{0, 1, 2, 3, 4, 5};
  using Part = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(part_of(x, {}), Part(0, 6));
  EXPECT_EQ(part_of(x, {true, false, 1.5f, 3.5f}), Part(1, 5));
  EXPECT_EQ(part_of(x, {true, false, 2, 3}), Part(1, 5)) << "points on the border are within";
  EXPECT_EQ(part_of(x, {true, false, -2, 0.5f}), Part(0, 2));
  EXPECT_EQ(part_of(x, {true, false, 4.5f, 9}), Part(4, 6));
  EXPECT_EQ(part_of(x, {true, false, 7, 9}), Part(5, 6)) << "only the line that leads away";
  EXPECT_EQ(part_of({}, {true, false, 7, 9}), Part(0, 0));
}

TEST(Plot, StackedAreasSumUp) {
  const std::vector<PlotSeries> series{
      {"a", 1, {1, 2, 3}}, {"b", 2, {4, -1, std::nanf("")}}, {"c", 3, {1, 1, 1}}};
  const std::vector<PlotSeries> edges = stack(series);
  ASSERT_EQ(edges.size(), 3u);
  EXPECT_EQ(edges[0].values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(edges[1].values, (std::vector<float>{5, 2, 3})) << "what is no time takes no room";
  EXPECT_EQ(edges[2].values, (std::vector<float>{6, 3, 4}));
  EXPECT_EQ(edges[2].color, 3u);
}

TEST(Plot, TicksAreShort) {
  EXPECT_EQ(tick_text(0), "0");
  EXPECT_EQ(tick_text(1500), "1500");
  EXPECT_EQ(tick_text(-0.002), "-0.002");
  EXPECT_EQ(tick_text(1e6), "1e6");
  EXPECT_EQ(tick_text(2.5e-5), "2.5e-5");
  EXPECT_EQ(tick_text(1e-9), "1e-9");
  EXPECT_EQ(tick_text(1e-18), "1e-18") << "a logarithmic axis does not end in 0";
  EXPECT_EQ(tick_text(-0.0), "0");
}

}  // namespace
}  // namespace stickslip
