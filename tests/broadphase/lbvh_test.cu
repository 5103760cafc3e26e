#include <algorithm>
#include <limits>
#include <numeric>

#include "gpu/broadphase/lbvh.cuh"
#include "gpu/broadphase/tree_boxes.cuh"
#include "gpu/core/launch.h"
#include "tests/backend_test.h"
#include "tests/broadphase/soups.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using stickslip::testing::random_point;

std::vector<FloatBox> random_boxes(std::mt19937& rng, int n, double size) {
  std::vector<FloatBox> boxes;
  for (int i = 0; i < n; ++i) {
    const Vec3 lo = random_point(rng, -1, 1), extent = random_point(rng, 0, size);
    boxes.push_back({lo.cast<float>(), (lo + extent).cast<float>()});
  }
  return boxes;
}

/// Nearly all boxes in one cell of the Morton grid.
std::vector<FloatBox> clustered_boxes(std::mt19937& rng, int n) {
  std::vector<FloatBox> boxes = random_boxes(rng, n, 0.1);
  for (std::size_t i = 3; i < boxes.size(); ++i) {
    boxes[i].lo *= 1e-4f;
    boxes[i].hi *= 1e-4f;
  }
  return boxes;
}

/// Checks the tree: every leaf once and in order, every stored box the union of its subtree, ranges and depth
/// correct.
void expect_valid(Context& ctx, const LbvhView& view, const std::vector<FloatBox>& boxes) {
  const int n = static_cast<int>(boxes.size());
  ASSERT_EQ(view.count, n);
  std::vector<LbvhNode> nodes(n);
  std::vector<std::int32_t> order(n);
  copy_to_host(ctx, nodes.data(), view.nodes, n);
  copy_to_host(ctx, order.data(), view.order, n);
  if (n == 0) return;
  EXPECT_FALSE(overlaps(nodes[n - 1].box[1], nodes[n - 1].box[0])) << "right box of the head";

  struct Entry {
    std::int32_t child;
    FloatBox box;  // stored in the parent
    int first, last, depth;
  };
  std::vector<int> leaf_visits(n, 0), node_visits(n, 0);
  std::vector<Entry> stack{{nodes[n - 1].child[0], nodes[n - 1].box[0], 0, n - 1, 0}};
  while (!stack.empty()) {
    const Entry entry = stack.back();
    stack.pop_back();
    ASSERT_LE(entry.depth, kCodeBits + 31);
    if (entry.child < 0) {
      const int primitive = ~entry.child;
      ASSERT_LT(primitive, n);
      ASSERT_EQ(entry.first, entry.last);
      EXPECT_EQ(order[entry.first], primitive);
      ++leaf_visits[primitive];
      EXPECT_EQ(entry.box.lo, boxes[primitive].lo);
      EXPECT_EQ(entry.box.hi, boxes[primitive].hi);
      continue;
    }
    ASSERT_LT(entry.child, n - 1);
    ASSERT_EQ(++node_visits[entry.child], 1);
    const LbvhNode& node = nodes[entry.child];
    EXPECT_EQ(node.gate, 0);
    const FloatBox both = merge(node.box[0], node.box[1]);
    EXPECT_EQ(entry.box.lo, both.lo);
    EXPECT_EQ(entry.box.hi, both.hi);
    ASSERT_LE(entry.first, entry.child);
    ASSERT_LT(entry.child, entry.last);
    stack.push_back({node.child[0], node.box[0], entry.first, entry.child, entry.depth + 1});
    stack.push_back({node.child[1], node.box[1], entry.child + 1, entry.last, entry.depth + 1});
  }
  EXPECT_EQ(leaf_visits, std::vector<int>(n, 1));
}

/// Compares one query per box of `boxes` with brute force. With `behind`, a query returns only leaves behind
/// its own.
void expect_queries(Context& ctx, const LbvhView& tree, const std::vector<FloatBox>& boxes, bool behind) {
  const std::size_t n = boxes.size();
  Buffer<FloatBox> queries(ctx, boxes);
  Buffer<std::int32_t> visits(ctx, n * n);
  fill(ctx, visits.data(), n * n, 0);
  const FloatBox* query = queries.data();
  std::int32_t* out = visits.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t leaf) {
    const std::size_t i = tree.order[leaf];
    traverse(
        tree, query[i], [&](std::int32_t j) { ++out[i * n + j]; },
        behind ? static_cast<std::int32_t>(leaf) : -1);
  });
  const std::vector<std::int32_t> got = visits.download(ctx);
  std::vector<std::int32_t> order(n), place(n);
  copy_to_host(ctx, order.data(), tree.order, n);
  for (std::size_t leaf = 0; leaf < n; ++leaf) place[order[leaf]] = static_cast<int>(leaf);
  int wrong = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const bool expected = overlaps(boxes[i], boxes[j]) && (!behind || place[j] > place[i]);
      wrong += got[i * n + j] != (expected ? 1 : 0);
    }
  EXPECT_EQ(wrong, 0);
}

void check_boxes(Context& ctx, std::mt19937& rng, Lbvh& tree, const std::vector<FloatBox>& boxes) {
  Buffer<FloatBox> device(ctx, boxes);
  tree.build(ctx, device.data(), boxes.size());
  expect_valid(ctx, tree.view(), boxes);
  if (boxes.size() <= 1000) {
    expect_queries(ctx, tree.view(), boxes, false);
    expect_queries(ctx, tree.view(), boxes, true);
  }

  const std::vector<FloatBox> moved = random_boxes(rng, static_cast<int>(boxes.size()), 0.2);
  device.upload(ctx, moved);
  tree.refit(ctx, device.data());
  expect_valid(ctx, tree.view(), moved);
  if (boxes.size() <= 1000) expect_queries(ctx, tree.view(), moved, true);
}

}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Lbvh, InvariantsAndQueriesAtAllSizes) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  Lbvh tree;  // one object for all sizes, increasing and decreasing
  for (const int n : {0, 1, 2, 3, 4, 5, 31, 1000, 0, 7, 40000, 2, 300}) {
    SCOPED_TRACE("n " + std::to_string(n));
    check_boxes(ctx, rng, tree, random_boxes(rng, n, 0.1));
    check_boxes(ctx, rng, tree, clustered_boxes(rng, n));
  }
}

BACKEND_TEST(Lbvh, EqualCodesMakeABalancedTree) {
  for (const int n : {2, 3, 64, 65, 5000}) {
    const std::vector<FloatBox> boxes(n, FloatBox{{1, 2, 3}, {1, 2, 3}});
    Buffer<FloatBox> device(ctx, boxes);
    Lbvh tree;
    tree.build(ctx, device.data(), boxes.size());
    expect_valid(ctx, tree.view(), boxes);
    // Equal codes are ordered by index, and the tree splits by the bits of the index.
    std::vector<std::int32_t> order(n), ascending(n);
    std::iota(ascending.begin(), ascending.end(), 0);
    copy_to_host(ctx, order.data(), tree.view().order, n);
    EXPECT_EQ(order, ascending);
  }
}

BACKEND_TEST(Lbvh, ACopyForPicturesHasAllBoxes) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  for (const int n : {0, 1, 2, 3, 500}) {
    SCOPED_TRACE("n " + std::to_string(n));
    std::vector<FloatBox> boxes = random_boxes(rng, n, 0.1);
    Buffer<FloatBox> device(ctx, boxes);
    Lbvh tree;
    tree.build(ctx, device.data(), boxes.size());
    std::vector<stickslip::TreeBox> copy;
    append_tree(ctx, tree.view(), copy);
    ASSERT_EQ(copy.size(), static_cast<std::size_t>(n == 0 ? 0 : 2 * n - 1));
    int leaves = 0, deepest = 0, on_last_level = 0;
    std::vector<stickslip::TreeBox> path;  // from the root to the present box
    for (const stickslip::TreeBox& box : copy) {
      ASSERT_LE(box.depth, static_cast<int>(path.size())) << "children follow their parent";
      path.resize(static_cast<std::size_t>(box.depth));
      for (int k = 0; k < 3 && !path.empty(); ++k) {
        EXPECT_LE(path.back().low[k], box.low[k]);
        EXPECT_GE(path.back().high[k], box.high[k]);
      }
      path.push_back(box);
      leaves += box.is_leaf;
      deepest = std::max(deepest, static_cast<int>(box.depth));
    }
    EXPECT_EQ(leaves, n);
    for (const stickslip::TreeBox& box : copy) on_last_level += box.is_on_level(deepest);
    EXPECT_EQ(on_last_level, n) << "all leaves are on the last level";
    if (n < 2) continue;
    // Boxes that hold nothing are left out.
    boxes[1] = FloatBox::empty();
    device.upload(ctx, boxes);
    tree.refit(ctx, device.data());
    copy.clear();
    append_tree(ctx, tree.view(), copy);
    EXPECT_EQ(std::ranges::count(copy, true, &stickslip::TreeBox::is_leaf), n - 1);
  }
}

BACKEND_TEST(Lbvh, NeighboursInSpaceAreNeighboursInTheOrder) {
  // Eight groups of boxes at the corners of a cube, interleaved: sorting must collect each group.
  std::vector<FloatBox> boxes;
  for (int i = 0; i < 800; ++i) {
    const Vec3f corner{float(i & 1), float(i >> 1 & 1), float(i >> 2 & 1)};
    boxes.push_back({corner, corner});
  }
  Buffer<FloatBox> device(ctx, boxes);
  Lbvh tree;
  tree.build(ctx, device.data(), boxes.size());
  std::vector<std::int32_t> order(boxes.size());
  copy_to_host(ctx, order.data(), tree.view().order, order.size());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i] % 8, static_cast<int>(i / 100));
}

namespace stickslip::STICKSLIP_BACKEND {
namespace {
/// The most primitives that the query of a leaf finds behind it.
int longest_query(Context& ctx, const LbvhView& tree) {
  Buffer<std::int32_t> visits(ctx, static_cast<std::size_t>(tree.count));
  std::int32_t* out = visits.data();
  launch(ctx, static_cast<std::size_t>(tree.count), [=] SS_LAMBDA(std::size_t leaf) {
    std::int32_t found = 0;
    traverse(
        tree, tree.leaf_boxes[leaf], [&](std::int32_t) { ++found; }, static_cast<std::int32_t>(leaf));
    out[leaf] = found;
  });
  const std::vector<std::int32_t> lengths = visits.download(ctx);
  return *std::max_element(lengths.begin(), lengths.end());
}
}  // namespace
}  // namespace stickslip::STICKSLIP_BACKEND

BACKEND_TEST(Lbvh, LargeBoxesComeLastSoThatNoQueryPassesThroughTheWholeTree) {
  std::mt19937 rng(4);
  std::vector<FloatBox> boxes = random_boxes(rng, 2000, 0.02);
  for (const std::size_t i : {3u, 700u, 1500u}) boxes[i] = {{-1, -1, -1}, {1, 1, 1}};
  Buffer<FloatBox> device(ctx, boxes);
  Lbvh tree;
  tree.build(ctx, device.data(), boxes.size());
  std::vector<std::int32_t> order(boxes.size());
  copy_to_host(ctx, order.data(), tree.view().order, order.size());
  EXPECT_EQ(std::vector<std::int32_t>(order.end() - 3, order.end()),
            (std::vector<std::int32_t>{3, 700, 1500}));
  EXPECT_LT(longest_query(ctx, tree.view()), 30);
}

BACKEND_TEST(Lbvh, SurvivesPositionsThatAreNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  for (const float bad : {kNan, kInf, -kInf}) {
    std::vector<FloatBox> boxes(100, FloatBox{{0, 0, 0}, {1, 1, 1}});
    boxes[17] = {{bad, 0, 0}, {bad, 1, 1}};
    Buffer<FloatBox> device(ctx, boxes);
    Lbvh tree;
    tree.build(ctx, device.data(), boxes.size());
    std::vector<std::int32_t> order(boxes.size());
    copy_to_host(ctx, order.data(), tree.view().order, order.size());
    std::sort(order.begin(), order.end());
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  }
}
