#include "gpu/broadphase/lbvh.cuh"

#include <algorithm>

#include "gpu/core/atomics.h"
#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

/// Spreads the low ten bits to every third bit.
SS_HD inline std::uint32_t spread_bits(std::uint32_t v) {
  v = (v | (v << 16)) & 0x030000ffu;
  v = (v | (v << 8)) & 0x0300f00fu;
  v = (v | (v << 4)) & 0x030c30c3u;
  return (v | (v << 2)) & 0x09249249u;
}

/// Morton code of the box centre on a grid of cubic cells over `bounds`; NaN goes to cell 0. Large boxes
/// come last, in a subtree of their own. A query looks only behind its own leaf, so theirs find few.
/// Elsewhere each would walk the whole tree in one lane.
SS_HD inline std::uint32_t box_code(const FloatBox& box, const FloatBox& bounds) {
  constexpr float kCells = 1 << (kMortonBits / 3);
  const Vec3f extent = bounds.hi - bounds.lo;
  const float longest = std::max(std::max(extent[0], extent[1]), extent[2]);
  const float scale = longest > 0 ? kCells / longest : 0.0f;
  constexpr float kLarge = 1.0f / 8;  // of the longest side of all boxes together
  std::uint32_t code = 0;
  for (int k = 0; k < 3; ++k) {
    if (box.hi[k] - box.lo[k] > kLarge * longest) code |= 1u << kMortonBits;
    const float cell = scale * (0.5f * (box.lo[k] + box.hi[k]) - bounds.lo[k]);
    const float clamped = cell > 0 ? std::min(cell, kCells - 1) : 0.0f;
    code |= spread_bits(static_cast<std::uint32_t>(clamped)) << k;
  }
  return code;
}

/// What the keys of leaves i and i + 1 do not share: the smaller, the longer their common prefix.
SS_HD inline std::uint64_t key_difference(const std::uint32_t* codes, std::int32_t i) {
  const auto index = static_cast<std::uint32_t>(i);
  return static_cast<std::uint64_t>(codes[i] ^ codes[i + 1]) << 32 | (index ^ (index + 1));
}

}  // namespace

void MortonOrder::compute_codes(Context& ctx, const FloatBox* boxes, std::size_t n, int dropped) {
  bits_ = kCodeBits - dropped;
  bounds_.resize(ctx, 1);
  codes_.resize(ctx, n);
  order_.resize(ctx, n);
  if (n == 0) return;

  reduce(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return boxes[i]; },
      [] SS_LAMBDA(const FloatBox& a, const FloatBox& b) { return merge(a, b); }, FloatBox::empty(),
      bounds_.data());
  const FloatBox* bounds = bounds_.data();
  std::uint32_t* codes = codes_.data();
  std::int32_t* order = order_.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    codes[i] = box_code(boxes[i], *bounds) >> dropped;
    order[i] = static_cast<std::int32_t>(i);
  });
}

void MortonOrder::sort(Context& ctx) { sort_pairs(ctx, order_.size(), codes_.data(), order_.data(), bits_); }

void Lbvh::compute_codes(Context& ctx, const FloatBox* boxes, std::size_t n) {
  order_.compute_codes(ctx, boxes, n);
  if (n > nodes_.capacity()) {
    nodes_.resize(ctx, n);
    LbvhNode* nodes = nodes_.data();
    launch(ctx, nodes_.capacity(), [=] SS_LAMBDA(std::size_t i) { nodes[i].gate = nodes[i].unused = 0; });
  }
  nodes_.resize(ctx, n);
}

void Lbvh::refit(Context& ctx, const FloatBox* boxes) {
  const std::int32_t* order = order_.data();
  const std::uint32_t* codes = order_.codes();
  LbvhNode* nodes = nodes_.data();
  const auto last = static_cast<std::int32_t>(order_.size()) - 1;
  // A pass of its own: among the atomics below, these scattered reads would wait for each other.
  leaf_boxes_.resize(ctx, order_.size());
  FloatBox* leaf_boxes = leaf_boxes_.data();
  launch(ctx, order_.size(), [=] SS_LAMBDA(std::size_t leaf) { leaf_boxes[leaf] = boxes[order[leaf]]; });
  launch(ctx, order_.size(), [=] SS_LAMBDA(std::size_t leaf) {
    auto begin = static_cast<std::int32_t>(leaf), end = begin;  // leaves below `child`
    std::int32_t child = ~order[leaf];
    FloatBox box = leaf_boxes[leaf];
    while (true) {
      // The parent splits where the longer prefix is shared: behind this range or before it.
      const bool left =
          begin == 0 || (end < last && key_difference(codes, end) < key_difference(codes, begin - 1));
      const std::int32_t parent = left ? end : begin - 1;
      LbvhNode& node = nodes[parent];
      node.child[left ? 0 : 1] = child;
      node.box[left ? 0 : 1] = box;
      if (parent == last) {
        node.child[1] = child;
        node.box[1] = FloatBox::empty();
        return;
      }
      memory_fence();
      const std::int32_t other_end = atomic_add(&node.gate, 1 + (left ? begin : end)) - 1;
      if (other_end < 0) return;
      memory_fence();
      node.gate = 0;
      (left ? end : begin) = other_end;
      box = merge(box, node.box[left ? 1 : 0]);
      child = parent;
    }
  });
}

void Lbvh::build(Context& ctx, const FloatBox* boxes, std::size_t n) {
  compute_codes(ctx, boxes, n);
  sort(ctx);
  refit(ctx, boxes);
}

}  // namespace stickslip::STICKSLIP_BACKEND
