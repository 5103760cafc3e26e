// NearPairs: the pairs of a moving surface that may come near each other, for as long as they may serve.
#pragma once

#include "gpu/broadphase/broadphase.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// The broad phase with a little more reach than asked for, less what its boxes say too much: of the pairs
/// whose boxes overlap most are never near.
class NearPairs {
 public:
  /// `surface` and what it points to must outlive this object or the next call.
  void set_topology(const SurfaceView& surface) {
    broad_phase_.set_topology(surface);
    forget();
  }

  /// Finds every point-triangle and edge-edge pair that BroadPhase::find finds and whose gap may fall below
  /// `margin` [m] between x and x + p (p: null for no motion). While every node's path stays within `spare`
  /// [m] of the box of its path in the last search here, that search's pairs serve again. The filter must be
  /// that of the search; `forget`, `set_topology` and another margin invalidate the pairs. The order of the
  /// pairs depends on the input only. One host read, and two more for a search that follows it.
  void find(Context& ctx, const Vec3* x, const Vec3* p, Real margin, Real spare, const PairFilter& filter);
  /// The next `find` searches, whatever the one before found.
  void forget() { covered_margin_ = -1; }

  /// Pairs of the last `find`, valid until the next one.
  CandidateView view() const {
    return {pairs_.data(), static_cast<std::size_t>(found_[0]), pairs_.data() + found_[0],
            static_cast<std::size_t>(found_[1])};
  }

  /// See BroadPhase::append_trees.
  void append_trees(Context& ctx, std::vector<TreeBox>& out) const { broad_phase_.append_trees(ctx, out); }

 private:
  void keep_near(Context& ctx, const Vec3* x, const Vec3* p, Real margin, Real spare);

  BroadPhase broad_phase_;
  Buffer<Aabb> covered_;         // where each surface node may be, with the pairs that there are
  Real covered_margin_ = -1;     // negative for none
  Buffer<std::int32_t> leaves_;  // whether a node leaves its box
  Buffer<std::uint8_t> near_;    // per pair of the broad phase
  Buffer<std::int32_t> selected_;
  Buffer<Vec2i> counts_;  // one: what becomes found_
  Buffer<Vec4i> pairs_;   // point-triangle pairs, then edge-edge pairs
  Vec2i found_{0, 0};     // how many of each
};

}  // namespace stickslip::STICKSLIP_BACKEND
