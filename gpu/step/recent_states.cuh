// RecentStates: where the nodes were at the ends of recent velocity-level steps.
#pragma once

#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/math/quat.h"
#include "gpu/math/vec.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Velocity-level steps may leave surfaces that go through each other, and a barrier cannot start from there.
/// A search for such places would cost time in every step. So steps only leave a copy of the positions here,
/// and move_apart.cuh searches among them where the solver changes. Which steps are kept follows from the
/// frame alone: of the last kSpan^k frames those that kSpan^(k-1) divides, for k up to kLevels. That is kMost
/// copies at most, and recent ones are dense.
class RecentStates {
 public:
  static constexpr int kSpan = 4, kLevels = 4;
  static constexpr int kMost = kSpan + (kLevels - 1) * (kSpan - 1);

  struct Entry {
    int frame = 0;
    std::size_t slot = 0;     // of the positions
    std::vector<Pose> poses;  // of all rigid bodies
  };

  /// Of another model, or of another start.
  void forget() { entries_.clear(); }
  /// Also drops what is not older than `frame`: after the run went back, it is of a future that it left.
  void add(Context& ctx, int frame, const Vec3* x, std::size_t nodes, std::vector<Pose> poses);
  /// From old to new.
  const std::vector<Entry>& entries() const { return entries_; }
  /// [m] of all nodes of the model.
  std::vector<Vec3> positions(Context& ctx, const Entry& entry) const;

  /// Whether the state of `frame` is still there after that of `now`.
  static bool keeps(int frame, int now);

 private:
  std::size_t free_slot() const;

  std::vector<Entry> entries_;
  std::size_t nodes_ = 0;
  Buffer<Vec3> x_;  // of kMost slots, so that steps allocate nothing
};

}  // namespace stickslip::STICKSLIP_BACKEND
