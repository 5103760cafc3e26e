// Colours of groups of blocks.
#include "gpu/rigid/manifold/block_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

TEST(BlockGroups, AChainNeedsTwoColours) {
  const std::vector<std::array<std::int32_t, 2>> bodies{{0, -1}, {1, 0}, {2, 1}, {3, 2}};
  const std::vector<std::uint8_t> moves(4, 1);
  const GroupOrder order = colour_groups(bodies, moves);
  EXPECT_EQ(order.colours, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(order.group, (std::vector<std::int32_t>{0, 2, 1, 3}));
}

TEST(BlockGroups, ImmovableBodiesDoNotConflict) {
  const std::vector<std::array<std::int32_t, 2>> bodies{{1, 0}, {2, 0}, {3, 0}};
  EXPECT_EQ(colour_groups(bodies, std::vector<std::uint8_t>{0, 1, 1, 1}).colours,
            (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(colour_groups(bodies, std::vector<std::uint8_t>{1, 1, 1, 1}).colours,
            (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(BlockGroups, NoneGiveNoColour) {
  EXPECT_EQ(colour_groups({}, {}).colours, (std::vector<std::size_t>{0}));
}

/// Every group once; groups of a colour share no movable body.
TEST(BlockGroups, RandomGroupsOfAColourShareNoBody) {
  std::mt19937 rng(fixtures::fresh_seed());
  for (int round = 0; round < 50; ++round) {
    const int n = 1 + static_cast<int>(rng() % 40);
    std::vector<std::uint8_t> moves;
    for (int b = 0; b < n; ++b) moves.push_back(rng() % 4 != 0);
    std::vector<std::array<std::int32_t, 2>> bodies(rng() % 100);
    for (auto& pair : bodies)
      for (std::int32_t& b : pair) b = static_cast<std::int32_t>(rng() % static_cast<unsigned>(n + 1)) - 1;
    const GroupOrder order = colour_groups(bodies, moves);
    std::vector<std::int32_t> sorted = order.group;
    std::ranges::sort(sorted);
    ASSERT_EQ(sorted.size(), bodies.size());
    for (std::size_t g = 0; g < sorted.size(); ++g) EXPECT_EQ(sorted[g], static_cast<std::int32_t>(g));
    for (std::size_t k = 0; k + 1 < order.colours.size(); ++k) {
      std::set<std::int32_t> seen;
      for (std::size_t i = order.colours[k]; i < order.colours[k + 1]; ++i) {
        const auto& pair = bodies[static_cast<std::size_t>(order.group[i])];
        const std::set<std::int32_t> own(pair.begin(), pair.end());
        for (const std::int32_t b : own) {
          if (b < 0 || moves[static_cast<std::size_t>(b)] == 0) continue;
          EXPECT_TRUE(seen.insert(b).second);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stickslip
