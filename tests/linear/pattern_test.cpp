#include "gpu/linear/pattern.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/fixtures/fresh_seed.h"
#include "tests/linear/systems.h"

namespace stickslip {
namespace {

void expect_sound(std::size_t n, const std::vector<Vec4i>& tets, std::int32_t chunk_size) {
  const Pattern p = make_pattern(n, tets, chunk_size);
  ASSERT_EQ(p.node.size(), n);
  std::vector<std::int32_t> slot(n, -1);
  for (std::size_t s = 0; s < n; ++s) {
    ASSERT_EQ(slot[p.node[s]], -1) << "each node has one slot";
    slot[p.node[s]] = static_cast<std::int32_t>(s);
  }

  std::set<std::pair<int, int>> want, got;  // both triangles
  for (const Vec4i& tet : tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (a != b) want.insert({tet[a], tet[b]});
  const auto chunk = [&](int node) { return slot[node] / chunk_size; };
  const auto inner_count = static_cast<std::size_t>(p.inner_count());
  for (std::size_t e = 0; e < p.entries.size(); ++e) {
    const int row = p.entries[e][0], column = p.entries[e][1];
    ASSERT_TRUE(got.insert({row, column}).second);
    ASSERT_EQ(chunk(row) == chunk(column), e < inner_count);
    if (e < inner_count) {
      EXPECT_GT(row, column);
      ASSERT_TRUE(got.insert({column, row}).second);
    }
  }
  EXPECT_EQ(got, want);

  std::map<std::uint32_t, int> uses;
  for (std::size_t e = 0; e < p.entries.size(); ++e)
    for (std::int32_t k = p.assembly_begin[e]; k < p.assembly_begin[e + 1]; ++k) {
      const std::uint32_t block = p.assembly[k] >> 1;
      uses[block] += e < inner_count ? 2 : 1;
      const Vec4i& tet = tets[block / kCornerBlocks];
      for (int a = 1; a < 4; ++a)
        for (int b = 0; b < a; ++b)
          if (corner_block(a, b) == static_cast<int>(block % kCornerBlocks)) {
            const bool transposed = (p.assembly[k] & 1U) != 0;
            EXPECT_EQ(p.entries[e], (transposed ? Vec2i{tet[b], tet[a]} : Vec2i{tet[a], tet[b]}));
          }
    }
  EXPECT_EQ(uses.size(), 6 * tets.size());
  for (const auto& [block, count] : uses)
    EXPECT_EQ(count, 2) << "element block " << block << " acts on both its ends";

  for (std::size_t s = 0; s < n; ++s) {
    const auto first = static_cast<std::int32_t>(s) / chunk_size * chunk_size;
    for (std::int32_t e = p.inner_begin[s]; e < p.inner_begin[s + 1]; ++e)
      EXPECT_EQ(p.entries[e], (Vec2i{p.node[s], p.node[first + p.column[e]]}));
    for (std::int32_t e = p.outer_begin[s]; e < p.outer_begin[s + 1]; ++e)
      EXPECT_EQ(p.entries[e], (Vec2i{p.node[s], p.node[p.column[e]]}));
  }
  EXPECT_EQ(p.outer_begin.back(), static_cast<std::int32_t>(p.entries.size()));
}

TEST(Pattern, VisitsEveryEntryFromBothEnds) {
  for (const std::int32_t chunk_size : {1, 3, 50, 2048}) {
    const unsigned seed = stickslip::fixtures::fresh_seed();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", chunks of " + std::to_string(chunk_size));
    test::Random random(seed);
    std::vector<Vec4i> tets = test::lattice_tets(6, 5, 7);
    for (int t = 0; t < 50; ++t) tets.push_back(random.stencil(250, 4));
    expect_sound(260, tets, chunk_size);
    expect_sound(5, {}, chunk_size);
    expect_sound(0, {}, chunk_size);
  }
}

TEST(Pattern, ChunksOfALatticeAreRound) {
  const std::size_t n = 40 * 40 * 40;
  const Pattern p = make_pattern(n, test::lattice_tets(40, 40, 40), 2048);
  EXPECT_LT(p.entries.size() - p.inner_count(), p.entries.size() / 3);
}

}  // namespace
}  // namespace stickslip
