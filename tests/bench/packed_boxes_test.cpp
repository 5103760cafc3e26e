#include "bench/packed_boxes.h"

#include <gtest/gtest.h>

#include <map>

#include "bench/counted.h"

namespace stickslip {
namespace {

TEST(PackedBoxes, AreClosedAndTheSameEveryTime) {
  const PackedSurface s = packed_boxes(2, 3), again = packed_boxes(2, 3);
  // A closed surface with the topology of a ball: V - E + F = 2.
  ASSERT_EQ(s.triangles.size(), 8u * 12 * 9);
  EXPECT_EQ(s.edges.size(), s.triangles.size() * 3 / 2);
  EXPECT_EQ(s.x.size() + s.triangles.size(), s.edges.size() + 8 * 2);
  std::map<std::pair<int, int>, int> sense;
  for (const Vec3i& t : s.triangles)
    for (int k = 0; k < 3; ++k) ++sense[{t[k], t[(k + 1) % 3]}];
  for (const auto& [edge, count] : sense) {
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(sense.contains({edge.second, edge.first}));
  }
  for (const Vec2i& e : s.edges) EXPECT_TRUE(e[0] < e[1] && sense.contains({e[0], e[1]}));
  ASSERT_EQ(again.x.size(), s.x.size());
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    EXPECT_EQ(norm(again.x[i] - s.x[i]), 0);
    EXPECT_EQ(norm(again.p[i] - s.p[i]), 0);
    for (int c = 0; c < 3; ++c) EXPECT_LE(std::abs(s.p[i][c]), Real(1.0001e-3));
  }
}

TEST(Counted, IsShort) {
  EXPECT_EQ(counted(300), "300");
  EXPECT_EQ(counted(10648), "10.6k");
  EXPECT_EQ(counted(100'000), "100k");
  EXPECT_EQ(counted(999'698), "1M");
  EXPECT_EQ(counted(8'997'888), "9M");
}

}  // namespace
}  // namespace stickslip
