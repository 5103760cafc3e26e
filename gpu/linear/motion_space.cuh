// MotionSpace: the affine motions of groups of nodes, as columns of a matrix Z.
#pragma once

#include <span>

#include "gpu/core/buffer.h"
#include "gpu/linear/coarse_solve.h"

namespace stickslip {

/// Some nodes of a group, whose sums one lane computes: members [begin, end).
struct MotionPart {
  std::int32_t begin, end, group;
};

/// For loops elsewhere, in backend memory.
struct MotionView {
  std::size_t groups, nodes;  // nodes beyond have no motion
  const std::int32_t* group;  // of each node; -1 for none and at fixed nodes
  const Vec3* offset;         // d of each node: from the centre of its group [m]
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class MotionSpace {
 public:
  /// `group`: of each node, or -1; nodes beyond have none.
  void load(Context& ctx, std::span<const std::int32_t> group, std::size_t groups);
  bool empty() const { return groups_ == 0; }
  std::size_t groups() const { return groups_; }

  /// Takes the offsets at the positions x [m]; nodes with fixed[i] != 0 (may be null) do not move.
  void place(Context& ctx, const Vec3* x, const std::uint8_t* fixed);

  /// Z'r by parts; then `sum_of` of a group is its share. Nothing is done while *skip (may be null) is not
  /// zero.
  void sum(Context& ctx, const Vec3* r, const std::int32_t* skip);
  struct Sums {
    const std::int32_t* first;  // part of each group, and one more
    const AffineMotion* part;
    SS_HD AffineMotion operator()(std::size_t group) const {
      AffineMotion total = AffineMotion::zero();
      for (std::int32_t p = first[group]; p < first[group + 1]; ++p) total += part[p];
      return total;
    }
  };
  Sums sums() const { return {first_part_.data(), partial_.data()}; }

  /// z += Z y, for a motion y of each group.
  void add(Context& ctx, const AffineMotion* y, Vec3* z) const;
  /// The same, and *r_dot_z = r'z over `nodes` nodes. Nothing is done while *skip is not zero.
  void add(Context& ctx, const AffineMotion* y, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z,
           const std::int32_t* skip) const;
  /// Column `mode` of each group's motions, summed: the velocities of all of them.
  void set_column(Context& ctx, int mode, Vec3* column) const;

  MotionView view() const { return {groups_, group_.size(), group_.data(), offset_.data()}; }

 private:
  std::size_t groups_ = 0;
  Buffer<std::int32_t> member_;  // nodes by group
  Buffer<MotionPart> parts_;
  Buffer<std::int32_t> first_part_;  // one more than groups
  Buffer<std::int32_t> group_of_;    // of each node; -1: none
  Buffer<std::int32_t> group_;       // the same; -1 at fixed nodes too
  Buffer<Vec3> centre_, offset_;     // of each group; d of each node [m]
  Buffer<AffineMotion> partial_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
