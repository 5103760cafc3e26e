// AffineModes: a coarse space of affine motions, one for each object.
#pragma once

#include "gpu/linear/motion_space.cuh"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip::STICKSLIP_BACKEND {

/// The correction Z_o (Z_o' A Z_o)^-1 Z_o' r of every object o, added to another preconditioner. The columns
/// of Z_o are the affine motions of the object's free nodes. Only mass resists rigid motions of a free
/// object, and little more resists uniform strain: block-Jacobi reduces these errors slowest. The matrix must
/// not couple objects, since A multiplies the motions of all of them together.
class AffineModes {
 public:
  /// `objects`: ranges of nodes [begin, end), disjoint and ascending. None: `add` does nothing.
  void load(Context& ctx, std::span<const Vec2i> objects);
  bool empty() const { return motions_.empty(); }

  /// Of the matrix as it is now, at x [m]; `fixed` as for Pcg::solve. Twelve products; of few objects one
  /// pass.
  void build(Context& ctx, SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed);

  /// Adds the correction to z and sets *r_dot_z = r'z, both for the r of `nodes` nodes, which is zero at
  /// fixed ones. Nothing is done while *skip is not zero.
  void add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z, const std::int32_t* skip);

  /// For loops elsewhere; (Z_o' A Z_o)^-1 of each object.
  MotionView view() const { return motions_.view(); }
  const CoarseBlock* inverse() const { return inverse_.data(); }

  /// Adds the correction for the residual r of A x = b to x. Then Z_o'(b - A x) = 0 but for the ridge
  /// (kRidge): momentum and angular momentum of a free object are those of b.
  void balance(Context& ctx, const Vec3* r, Vec3* x);

 private:
  void find_motions(Context& ctx, const Vec3* r, const std::int32_t* skip);

  MotionSpace motions_;
  Buffer<Vec3> column_, product_;  // of Z, of A Z
  Buffer<AffineMotion> found_;
  Buffer<CoarseBlock> inverse_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
