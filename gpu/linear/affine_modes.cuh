// AffineModes: a coarse space of affine motions, one for each object.
#pragma once

#include <span>

#include "gpu/core/buffer.h"
#include "gpu/linear/split_matrix.cuh"

namespace stickslip {

/// A velocity field y_0 + sum_k d_k y_(k+1), where d is the position relative to the object's centre: twelve
/// numbers.
using AffineMotion = Vec<Real, 12>;

/// Some consecutive nodes of an object, whose sums one lane computes.
struct ModeChunk {
  std::int32_t begin, end, object;
};

/// For loops elsewhere, in backend memory.
struct ModesView {
  std::size_t objects, nodes;    // nodes beyond have no motion
  const std::int32_t* object;    // of each node; -1 for none and at fixed nodes
  const Vec3* offset;            // d of each node [m]
  const Mat<Real, 12>* inverse;  // (Z_o' A Z_o)^-1 of each object
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// The correction Z_o (Z_o' A Z_o)^-1 Z_o' r of every object o, added to another preconditioner. The columns
/// of Z_o are the affine motions of the object's free nodes. Only mass resists rigid motions of a free
/// object, and little more resists uniform strain: block-Jacobi reduces these errors slowest. The matrix must
/// not couple objects, since A multiplies the motions of all of them together.
class AffineModes {
 public:
  /// `objects`: ranges of nodes [begin, end), disjoint and ascending. None: `add` does nothing.
  void load(Context& ctx, std::span<const Vec2i> objects);
  bool empty() const { return objects_ == 0; }

  /// Of the matrix as it is now, at the positions x [m]; `fixed` as for Pcg::solve. Twelve products with A.
  void build(Context& ctx, SplitMatrix& matrix, const Vec3* x, const std::uint8_t* fixed);

  /// Adds the correction to z and sets *r_dot_z = r'z, both for the r of `nodes` nodes, which is zero at
  /// fixed ones. Nothing is done while *skip is not zero.
  void add(Context& ctx, std::size_t nodes, const Vec3* r, Vec3* z, Real* r_dot_z, const std::int32_t* skip);

  ModesView view() const {
    return {objects_, object_.size(), object_.data(), offset_.data(), inverse_.data()};
  }

  /// Adds the correction for the residual r of A x = b to x. Then Z_o'(b - A x) = 0 but for the ridge
  /// (kRidge): momentum and angular momentum of a free object are those of b.
  void balance(Context& ctx, const Vec3* r, Vec3* x);

 private:
  void sum_chunks(Context& ctx, const Vec3* r, const std::int32_t* skip);
  void find_motions(Context& ctx, const Vec3* r, const std::int32_t* skip);

  std::size_t objects_ = 0;
  Buffer<ModeChunk> chunks_;
  Buffer<std::int32_t> first_chunk_;  // one more than objects
  Buffer<std::int32_t> object_of_;    // of each node; -1: none
  Buffer<std::int32_t> object_;       // the same; -1 at fixed nodes too
  Buffer<Vec3> centre_, offset_;      // of each object; d of each node [m]
  Buffer<Vec3> column_, product_;     // of Z, of A Z
  Buffer<AffineMotion> partial_, sums_;
  Buffer<Mat<Real, 12>> inverse_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
