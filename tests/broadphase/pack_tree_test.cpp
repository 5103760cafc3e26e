#include "gpu/broadphase/pack_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "tests/fixtures/fresh_seed.h"

namespace stickslip::cpu {
namespace {

FloatBox random_box(std::mt19937& engine, float size) {
  std::uniform_real_distribution<float> place(0, 1), extent(0, size);
  FloatBox box;
  for (int k = 0; k < 3; ++k) {
    box.lo[k] = place(engine);
    box.hi[k] = box.lo[k] + extent(engine);
  }
  return box;
}

TEST(PackTree, FindsTheLeavesThatEachQueryOverlaps) {
  FRESH_SEED(seed);
  std::mt19937 engine(seed);
  Context ctx(3);
  PackTree tree;
  for (const std::size_t n : {1, 7, 8, 9, 64, 65, 513, 5000, 0}) {
    SCOPED_TRACE(std::to_string(n) + " boxes");
    std::vector<FloatBox> boxes;
    for (std::size_t i = 0; i < n; ++i) boxes.push_back(random_box(engine, 0.1f));
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine);
    tree.build(ctx, boxes.data(), order.data(), n);
    ASSERT_EQ(tree.leaf_packs(), (n + 7) / 8);

    for (int trial = 0; trial < 50; ++trial) {
      const int count = 1 + trial % 8;
      const std::size_t from = trial % 3 == 0 ? 0 : engine() % (n + 1);
      BoxPack queries;
      std::vector<FloatBox> query;
      for (int lane = 0; lane < count; ++lane) {
        query.push_back(random_box(engine, 0.3f));
        queries.set(lane, query.back());
      }
      std::vector<std::pair<std::size_t, unsigned>> found, expected;
      tree.traverse(queries, queries.merged(), from,
                    [&](std::size_t leaf, unsigned lanes) { found.emplace_back(leaf, lanes); });
      for (std::size_t leaf = from; leaf < n; ++leaf) {
        unsigned lanes = 0;
        for (int lane = 0; lane < count; ++lane)
          if (overlaps(query[lane], boxes[order[leaf]])) lanes |= 1u << lane;
        if (lanes != 0) expected.emplace_back(leaf, lanes);
      }
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(BoxPack, OfNothingAndOfNaNOverlapsNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), far = std::numeric_limits<float>::max();
  const FloatBox all{{-far, -far, -far}, {far, far, far}};
  BoxPack pack;
  EXPECT_EQ(pack.overlaps(all), 0u);
  pack.set(2, {{0, nan, 0}, {1, nan, 1}});
  pack.set(5, {{0, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(pack.overlaps(all), 1u << 5);
  EXPECT_EQ(pack.overlaps({{nan, 0, 0}, {nan, 1, 1}}), 0u);
  EXPECT_EQ(pack.overlaps(FloatBox::empty()), 0u);
}

}  // namespace
}  // namespace stickslip::cpu
