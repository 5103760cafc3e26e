#include "gpu/linear/domain_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "tests/fixtures/fresh_seed.h"
#include "tests/linear/systems.h"

namespace stickslip {
namespace {

/// Two parallel beams, each with its nodes in a line; every pair once.
struct Beams {
  std::vector<Vec3> positions;
  std::vector<Vec2i> pairs;
};

Beams two_beams(int length) {
  Beams beams;
  for (int beam = 0; beam < 2; ++beam)
    for (int i = 0; i < length; ++i) {
      const int node = beam * length + i;
      beams.positions.push_back({Real(i), Real(0.1) * beam, 0});
      if (i > 0) beams.pairs.push_back({node, node - 1});
    }
  return beams;
}

TEST(DomainPlan, MortonOrderTakesBodiesOneByOneAndAlongTheCurve) {
  const Beams beams = two_beams(50);
  const std::vector<std::int32_t> order = morton_order(beams.positions, beams.pairs);
  std::vector<std::int32_t> want(100);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(order, want);
}

TEST(DomainPlan, MortonOrderOfOnePlaceIsTheNodesOrder) {
  const std::vector<Vec3> positions(5, Vec3{1, 2, 3});
  EXPECT_EQ(morton_order(positions, {}), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
}

// 45 nodes each: the third domain of 16 contains the end of one beam and the start of the other; these are
// aggregated separately.
TEST(DomainPlan, LevelsAggregateConnectedParts) {
  const Beams beams = two_beams(45);
  const DomainPlan plan = make_domain_plan(morton_order(beams.positions, beams.pairs), beams.pairs, 16, 4);
  ASSERT_EQ(plan.levels(), 2U);
  std::set<std::int32_t> coarse;
  for (int beam = 0; beam < 2; ++beam) {
    std::set<std::int32_t> own;
    for (int i = 0; i < 45; ++i) own.insert(plan.slot_of_node[90 + 45 * beam + i]);
    for (const std::int32_t slot : own) EXPECT_TRUE(coarse.insert(slot).second) << "shared by both beams";
  }
  EXPECT_EQ(coarse.size(), 7U);  // 90 / 16 rounded up, and one more at the boundary between the beams
}

TEST(DomainPlan, EverySlotIsTheSumOfItsNodes) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  test::Random random(seed);
  const test::System system = test::make_system(random, 7, 6, 8, 0);
  std::vector<Vec2i> pairs;
  for (const Vec4i& tet : system.tets.nodes)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (tet[b] >= 0 && tet[a] > tet[b]) pairs.push_back({tet[a], tet[b]});
  const std::size_t n = system.node_count;
  std::vector<Vec3> positions = random.vectors(n);
  for (int i = 0; i < 7 * 6 * 8; ++i) positions[i] = {Real(i % 7), Real(i / 7 % 6), Real(i / 42)};
  const DomainPlan plan = make_domain_plan(morton_order(positions, pairs), pairs, 9, 4);
  ASSERT_GE(plan.levels(), 2U);

  // The lists of members imply slot_of_node, level by level.
  std::vector<std::set<std::int32_t>> nodes(static_cast<std::size_t>(plan.slot_count()));
  for (std::size_t i = 0; i < n; ++i) nodes[plan.slot_of_node[i]].insert(static_cast<std::int32_t>(i));
  for (std::size_t l = 1; l < plan.levels(); ++l) {
    EXPECT_EQ(plan.level_begin[l] % plan.domain_size, 0);
    for (std::int32_t s = plan.level_begin[l]; s < plan.level_begin[l + 1]; ++s)
      for (std::int32_t k = plan.member_begin[s]; k < plan.member_begin[s + 1]; ++k)
        nodes[s].insert(nodes[plan.members[k]].begin(), nodes[plan.members[k]].end());
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_TRUE(nodes[plan.slot_of_node[l * n + i]].contains(static_cast<std::int32_t>(i)));
    std::size_t total = 0;
    for (std::int32_t s = plan.level_begin[l]; s < plan.level_begin[l + 1]; ++s) total += nodes[s].size();
    EXPECT_EQ(total, n);
  }
}

TEST(DomainPlan, LinkedOrderGrowsConnectedGroups) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const int n : {1, 5, 16, 17, 100, 1000}) {
    // A random tree with more links: connected.
    std::vector<Vec2i> links;
    for (int i = 1; i < n; ++i) links.push_back({i, static_cast<int>(random() % static_cast<unsigned>(i))});
    for (int i = 0; i < n; ++i)
      links.push_back({static_cast<int>(random() % static_cast<unsigned>(n)),
                       static_cast<int>(random() % static_cast<unsigned>(n))});
    links.push_back({0, -1});
    std::vector<std::int32_t> sorted = linked_order(static_cast<std::size_t>(n), links, 16);
    std::ranges::sort(sorted);
    std::vector<std::int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << n;
  }
  // A line of 256 nodes, numbered at random: sixteen in a row each, and every group next to the last.
  std::vector<std::int32_t> name(256), place(256);
  std::iota(name.begin(), name.end(), 0);
  std::ranges::shuffle(name, random);
  std::vector<Vec2i> links;
  for (int i = 0; i + 1 < 256; ++i) links.push_back({name[i], name[i + 1]});
  for (int i = 0; i < 256; ++i) place[name[i]] = i;
  const std::vector<std::int32_t> order = linked_order(256, links, 16);
  int parts = 0;
  for (int group = 0; group < 16; ++group) {
    std::set<int> places;
    for (int k = 0; k < 16; ++k) places.insert(place[order[16 * group + k]]);
    for (const int p : places) parts += !places.contains(p + 1);
  }
  EXPECT_LE(parts, 28) << "most groups of a line are one piece of it";
}

// Two beams that a contact links at their ends. The first domain of 16 has all of one beam and the nearest
// nodes of the other: with the link they are one slot of the next level.
TEST(DomainPlan, ContactsLinkBodies) {
  const Beams beams = two_beams(12);
  const std::vector<Vec2i> contact{{11, 12}};
  std::vector<Vec2i> all = beams.pairs;
  all.insert(all.end(), contact.begin(), contact.end());
  const std::vector<std::int32_t> order = linked_order(24, all, 16);
  const DomainPlan apart = make_domain_plan(order, beams.pairs, 16, 4);
  const DomainPlan linked = make_domain_plan(order, beams.pairs, 16, 4, contact);
  const auto coarsest = [](const DomainPlan& plan) {
    const auto first = plan.slot_of_node.end() - static_cast<std::ptrdiff_t>(plan.node_count);
    return std::set<std::int32_t>(first, plan.slot_of_node.end()).size();
  };
  EXPECT_EQ(coarsest(apart), 3U);
  EXPECT_EQ(coarsest(linked), 2U);
}

TEST(DomainPlan, NothingToCut) {
  const DomainPlan plan = make_domain_plan({}, {}, 16, 4);
  EXPECT_EQ(plan.slot_count(), 0);
  EXPECT_EQ(plan.levels(), 1U);
}

}  // namespace
}  // namespace stickslip
