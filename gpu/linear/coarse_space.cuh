// CoarseSpace: the coarse part of a two-level preconditioner, affine motions of groups of nodes.
#pragma once

#include "gpu/linear/coarse_matrix.h"
#include "gpu/linear/motion_space.cuh"
#include "gpu/linear/split_matrix.cuh"

#if !STICKSLIP_ON_CUDA
#include "gpu/linear/coarse_rows.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

/// The correction Z (Z'A Z)^-1 Z'r, added to another preconditioner. The columns of Z are the affine motions
/// of groups of nodes, and Z'A Z, which knows how meshes and contacts couple the groups, is factorised on the
/// host. Block-Jacobi passes information one node an iteration; this passes it through all groups at once.
class CoarseSpace {
 public:
  /// `group`: of each node; -1 for none.
  void set_plan(Context& ctx, std::span<const std::int32_t> group);
  bool has_plan() const { return has_plan_; }
  void forget_plan() { has_plan_ = false; }

  /// Of the matrix as it is now, at the positions x [m]; nodes with fixed[i] != 0 (may be null) do not move.
  /// CUDA, and any matrix with an embedding: by way of a copy of the matrix in host memory.
  void build(Context& ctx, const SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed);

  /// Adds the correction to z and sets *r_dot_z = r'z, both for the r of `nodes` nodes, which is zero at
  /// fixed ones. Nothing is done while *skip is not zero.
  void add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z, const std::int32_t* skip);

  /// For loops elsewhere.
  MotionView motions() const { return motions_.view(); }
  /// In backend memory.
  CoarseFactors factors() const;

 private:
  void assemble_on_host(Context& ctx, const SplitMatrix& matrix);

  bool has_plan_ = false;
  MotionSpace motions_;
  CoarseMatrix matrix_;
  Buffer<AffineMotion> found_;
#if STICKSLIP_ON_CUDA
  Buffer<std::int32_t> group_, row_, column_;
  Buffer<CoarseBlock> block_, inverse_;
#else
  CoarseRows rows_;
#endif
};

}  // namespace stickslip::STICKSLIP_BACKEND
