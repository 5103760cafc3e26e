// Lbvh: a linear bounding volume hierarchy over boxes, and the one traversal that all queries share.
#pragma once

#include <limits>

#include "gpu/broadphase/float_box.h"
#include "gpu/core/buffer.h"

#if !STICKSLIP_ON_CUDA && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {

/// An inner node with the boxes of both children, so that one visit reads one cache line.
///
/// Node s splits the sorted leaves between s and s + 1: its left subtree ends at leaf s, its right one begins
/// at leaf s + 1 [Apetrei14]. A child >= 0 is an inner node, a child < 0 is the leaf of primitive ~child.
struct alignas(64) LbvhNode {
  FloatBox box[2];
  std::int32_t child[2];
  std::int32_t gate;  // 0; in a build, after the first child: 1 + the end of its range away from the split
  std::int32_t unused;
};
static_assert(sizeof(LbvhNode) == 64);

/// n nodes for n primitives. The last one is the head: its left child is the root of the radix tree (the only
/// leaf when n = 1), its right box is empty.
struct LbvhView {
  const LbvhNode* nodes;
  const std::int32_t* order;   // primitive of each leaf, in the order of codes
  const FloatBox* leaf_boxes;  // box of each leaf
  std::int32_t count;
};

/// The order of boxes along a Morton curve, large ones behind the others.
class MortonOrder {
 public:
  /// Bounds of all boxes, and the code of each, without its last `dropped` bits.
  void compute_codes(Context& ctx, const FloatBox* boxes, std::size_t n, int dropped = 0);
  void sort(Context& ctx);

  std::size_t size() const { return order_.size(); }
  /// After `sort`: the box at each place, and its code.
  const std::int32_t* data() const { return order_.data(); }
  const std::uint32_t* codes() const { return codes_.data(); }

 private:
  int bits_ = kCodeBits;     // of a code
  Buffer<FloatBox> bounds_;  // one: of all boxes
  Buffer<std::uint32_t> codes_;
  Buffer<std::int32_t> order_;
};

/// Linear BVH [Guo24 §5.3]: primitives are sorted by their Morton codes, large ones behind the others. The
/// 64-bit key is (code << 32 | index), the binary radix tree over the keys is the hierarchy. The index is the
/// rank after a stable sort of the codes alone, which gives the same order. Hierarchy and boxes come out of
/// one bottom-up pass; at each node an atomic gate stops the first child to arrive and lets the second pass.
/// Node numbering differs from Karras' (see LbvhNode); the tree is the same.
class Lbvh {
 public:
  /// Over n boxes in backend memory, n < 2^31.
  void build(Context& ctx, const FloatBox* boxes, std::size_t n);
  /// New boxes for the same n primitives: keeps the order and the hierarchy of the last build.
  void refit(Context& ctx, const FloatBox* boxes);
  LbvhView view() const {
    return {nodes_.data(), order_.data(), leaf_boxes_.data(), static_cast<std::int32_t>(order_.size())};
  }

  // `build` is these two and then `refit`; separate calls let a benchmark time each.

  /// Bounds of all boxes, and the code of each.
  void compute_codes(Context& ctx, const FloatBox* boxes, std::size_t n);
  /// Sorts the primitives by their codes.
  void sort(Context& ctx) { order_.sort(ctx); }

 private:
  MortonOrder order_;
  Buffer<FloatBox> leaf_boxes_;  // per leaf
  Buffer<LbvhNode> nodes_;
};

/// A box to compare with many others; `overlaps` is that of boxes.
class QueryBox {
 public:
#if !STICKSLIP_ON_CUDA && defined(__SSE2__)
  // All six comparisons in two instructions without branches: a walk is a sequence of comparisons that hardly
  // any predictor foresees. The fourth lane of each holds for every box but NaN, which overlaps nothing.
  explicit QueryBox(const FloatBox& box)
      : hi_(_mm_setr_ps(box.hi[0], box.hi[1], box.hi[2], kInfinity)),
        lo_(_mm_setr_ps(-kInfinity, box.lo[0], box.lo[1], box.lo[2])) {}
  bool overlaps(const FloatBox& box) const {
    static_assert(sizeof(FloatBox) == 6 * sizeof(float));
    const auto* const at = reinterpret_cast<const float*>(&box);
    const __m128 below = _mm_cmple_ps(_mm_loadu_ps(at), hi_), above = _mm_cmple_ps(lo_, _mm_loadu_ps(at + 2));
    return _mm_movemask_ps(_mm_and_ps(below, above)) == 15;
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  __m128 hi_, lo_;
#else
  SS_HD explicit QueryBox(const FloatBox& box) : box_(box) {}
  SS_HD bool overlaps(const FloatBox& box) const { return stickslip::overlaps(box, box_); }

 private:
  FloatBox box_;
#endif
};

/// Calls visit(primitive) for every primitive whose box overlaps `query` and whose leaf lies behind leaf
/// `after` in the sorted order (-1: all), in an order that depends on the tree only.
///
/// The stack holds at most one entry per level. A level of the radix tree consumes at least one bit of its
/// keys, which differ in kCodeBits code bits and at most 31 index bits; the head is one more level.
template <class Visit>
SS_HD void traverse(const LbvhView& tree, const FloatBox& query, Visit&& visit, std::int32_t after = -1) {
  constexpr int kStackSize = 64;
  static_assert(kCodeBits + 31 + 1 <= kStackSize);
  std::int32_t stack[kStackSize];
  const QueryBox box(query);
  int top = 0;
  if (tree.count > 0) stack[top++] = tree.count - 1;
  while (top > 0) {
    std::int32_t index = stack[--top];
    while (index >= 0) {
      const LbvhNode& node = tree.nodes[index];
      // The left subtree ends at leaf `index`; a node is only reached when its last leaf is behind `after`.
      const bool left = index > after && box.overlaps(node.box[0]);
      const bool right = box.overlaps(node.box[1]);
      if (left && right) stack[top++] = node.child[1];
      if (!left && !right) break;
      index = left ? node.child[0] : node.child[1];
    }
    if (index < 0) visit(~index);
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
