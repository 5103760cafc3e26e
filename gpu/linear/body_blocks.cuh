// BodyBlocks: the 12x12 diagonal block of J'A J of every affine body, see Embedding.
#pragma once

#include "gpu/linear/embedding.cuh"
#include "gpu/linear/node_gather.cuh"
#include "gpu/linear/symmetric3.h"
#include "gpu/math/corner_blocks.h"

namespace stickslip {

/// A symmetric 12x12 matrix over four nodes: its lower 3x3 blocks, as those of a stencil are stored.
struct BodyBlock {
  Mat3 b[kCornerBlocks];

  SS_HD Mat3& operator()(int row, int column) { return b[corner_block(row, column)]; }
  SS_HD const Mat3& operator()(int row, int column) const { return b[corner_block(row, column)]; }
  SS_HD BodyBlock& operator+=(const BodyBlock& other) {
    for (int k = 0; k < kCornerBlocks; ++k) b[k] += other.b[k];
    return *this;
  }
  SS_HD Real trace() const {
    Real sum = 0;
    for (int k = 0; k < 4; ++k) sum += stickslip::trace((*this)(k, k));
    return sum;
  }
  SS_HD Mat<Real, 12> dense() const {
    Mat<Real, 12> m{};
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j <= i; ++j) m(i, j) = m(j, i) = (*this)(i / 3, j / 3)(i % 3, j % 3);
    return m;
  }
};

/// The parts of A that make the blocks, in backend memory; SplitMatrix defines them.
struct BodyBlockSources {
  const Mat3* diagonal;  // per node
  const Mat3* lower;     // by entry
  const std::int32_t*
      control_entries;  // 6 per body: entries (1,0),(2,0),(2,1),(3,0),(3,1),(3,2) of its control tet
  const Vec4i* stencils;
  std::size_t stencil_count;
  const Mat3* couplings;  // 6 per stencil, in the same order
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class BodyBlocks {
 public:
  void assemble(Context& ctx, const Embedding& embedding, const BodyBlockSources& sources);
  const BodyBlock* data() const { return blocks_.data(); }
  /// Gives all nodes of a body the stiffness of its block, trace / 4, see SplitMatrix::stiffness.
  void set_stiffness(Context& ctx, const Embedding& embedding, Real* stiffness) const;

 private:
  Buffer<BodyBlock> blocks_, partial_;
  Buffer<Vec4i> stencil_bodies_;
  NodeGather stencil_gather_;
};

/// The inverse of the blocks: block-Jacobi for affine bodies.
class BodyBlocksInverse {
 public:
  /// A block that is not positive definite to working precision is replaced by its mean eigenvalue.
  /// `embedding` must outlive this object or the next call.
  void build(Context& ctx, const Embedding& embedding, const BodyBlocks& blocks, const std::uint8_t* fixed);
  void clear() { embedding_ = nullptr; }
  bool empty() const { return embedding_ == nullptr; }

  /// Sets the inverses at control nodes to those of their 3x3 diagonal blocks, for what takes no more.
  void set_local(Context& ctx, const BodyBlocks& blocks, Symmetric3* inverse);
  /// z = block^-1 r at the control nodes, and *r_dot_z takes up the change. Nothing is done while *skip is
  /// not zero, and after `clear`.
  void replace(Context& ctx, const Vec3* r, Vec3* z, Real* r_dot_z, const std::int32_t* skip);

  /// 1 at fixed nodes, and at all nodes of affine bodies.
  const std::uint8_t* absent() const { return absent_.data(); }

 private:
  const Embedding* embedding_ = nullptr;
  Buffer<Mat<Real, 12>> inverse_;
  Buffer<std::uint8_t> absent_;
  Buffer<Real> dot_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
