// BroadPhase: the pairs of a moving surface that may touch [Guo24 §5.3].
#pragma once

#include "gpu/broadphase/candidates.h"
#include "gpu/broadphase/lbvh.cuh"
#if !STICKSLIP_ON_CUDA
#include "gpu/broadphase/pack_tree.h"
#endif
#include "gpu/broadphase/primitive_pairs.h"
#include "gpu/model/tree_box.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Two trees, over triangles and over edges; points traverse the first, edges the second. Queries are
/// independent on CUDA; on the CPU eight neighbours walk together.
class BroadPhase {
 public:
  /// `surface` and what it points to must outlive this object or the next call.
  void set_topology(const SurfaceView& surface) { surface_ = surface; }
  const SurfaceView& surface() const { return surface_; }

  /// Finds every point-triangle and edge-edge pair whose gap, the distance less both radii, falls below
  /// `margin` [m] between x and x + p (p: null for no motion), by boxes that are swept, grown by margin / 2
  /// and rounded outward to float. Skips pairs that share a node and those that the filter drops. Each edge
  /// pair comes once, the smaller edge first. The order of the pairs depends on the input only. One host
  /// read.
  void find(Context& ctx, const Vec3* x, const Vec3* p, Real margin, const PairFilter& filter);

  /// Pairs of the last find(), valid until the next one.
  CandidateView view() const {
    return {pairs_.data(), static_cast<std::size_t>(found_[0]), pairs_.data() + found_[0],
            static_cast<std::size_t>(found_[1])};
  }

  /// Appends the tree over triangles of the last search, see append_tree. One host read.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const;

 private:
  void find_boxes(Context& ctx, const Vec3* x, const Vec3* p, Real reach);

  SurfaceView surface_{};
#if STICKSLIP_ON_CUDA
  Lbvh triangle_tree_, edge_tree_;
#else
  PackTree point_tree_, triangle_tree_, edge_tree_;
  MortonOrder point_order_, triangle_order_, edge_order_;
  Buffer<FloatBox> point_boxes_;  // per surface node
#endif
  Buffer<FloatBox> triangle_boxes_, edge_boxes_;
  Buffer<std::int32_t> hits_;    // the first few primitives that each query hit
  Buffer<std::int32_t> counts_;  // of pairs per query: points first, then edges in the order of the tree
  Buffer<std::int32_t> offsets_;
  Buffer<Vec2i> totals_;  // one: what becomes found_
  Buffer<Vec4i> pairs_;   // point-triangle pairs, then edge-edge pairs
  Vec2i found_{0, 0};     // how many of each
};

}  // namespace stickslip::STICKSLIP_BACKEND
