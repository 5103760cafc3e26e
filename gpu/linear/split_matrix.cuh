// SplitMatrix: the symmetric block matrix A = D + L + L' + sum (C + C') of [Guo24 §5.1, App. C].
//   D  dense 3x3 diagonal blocks, the diagonals of contact stencils included
//   L  strictly lower 3x3 blocks over the fixed adjacency of the mesh
//   C  off-diagonal blocks of contact stencils, rebuilt at every Newton iteration
// The paper adds into y atomically. Here every y has one writer at a time and sums in a fixed order
// (ChunkProduct, RowProduct, NodeGather): no slower, and the same bits for any number of threads.
#pragma once

#include <span>

#include "gpu/core/buffer.h"
#include "gpu/linear/corner_blocks.h"
#include "gpu/linear/lower_product.cuh"
#include "gpu/linear/node_gather.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class SplitMatrix {
 public:
  /// The adjacency of the mesh, in host memory. Throws std::invalid_argument naming a tet with a bad node.
  void set_pattern(Context& ctx, std::size_t node_count, std::span<const Vec4i> tets);

  /// Overwrites D and L with the sum of the tets' blocks: 10 per tet, (0,0),(1,0),(1,1),(2,0), ... (3,3) by
  /// corners. Contact stencils are dropped.
  void assemble(Context& ctx, const Mat3* tet_blocks);
  /// The same from block(10 tet + position), a device function, for blocks that are cheaper made than stored.
  template <class F>
  void assemble_from(Context& ctx, F block);
  /// Adds per_node[i] to block i of D, as a multiple of the identity or as a symmetric block.
  void add_diagonal(Context& ctx, const Real* per_node);
  void add_diagonal(Context& ctx, const Mat3* per_node);
  /// Takes n stencils (unused corners -1) with 10 blocks each, ordered as in `assemble`, by copy: diagonals
  /// are added to D, the others become C. At most once after each `assemble`. One host read.
  void set_stencils(Context& ctx, const Vec4i* nodes, std::size_t n, const Mat3* blocks);

  /// y = A x; *x_dot_y = x'y unless null. Nothing is done while *skip (may be null) is not zero. All backend
  /// memory.
  void multiply(Context& ctx, const Vec3* x, Vec3* y, Real* x_dot_y = nullptr,
                const std::int32_t* skip = nullptr);

  std::size_t node_count() const { return node_count_; }
  /// Pairs of nodes that L couples.
  std::size_t pair_count() const { return pair_count_; }
  std::size_t stencil_count() const { return stencil_count_; }
  const Mat3* diagonal() const { return diagonal_.data(); }
  /// The corners of the tets, and of the last stencils, by node: for gradients that come by corner too.
  const NodeGather& tet_gather() const { return tet_gather_; }
  const NodeGather& stencil_gather() const { return stencil_gather_; }

 private:
  std::size_t node_count_ = 0, pair_count_ = 0, entry_count_ = 0, stencil_count_ = 0;
  Buffer<Mat3> diagonal_, lower_;        // each with one spare block, see ChunkProduct
  Buffer<std::int32_t> assembly_begin_;  // see Pattern
  Buffer<std::uint32_t> assembly_;
  NodeGather tet_gather_;
  LowerProduct lower_product_;

  NodeGather stencil_gather_;
  Buffer<Vec4i> stencils_;
  Buffer<Mat3> couplings_;        // 6 per stencil: (1,0),(2,0),(2,1),(3,0),(3,1),(3,2)
  Buffer<Vec3> corner_products_;  // 4 per stencil
  Buffer<Real> dots_;             // of the two parts of the product
};

template <class F>
void SplitMatrix::assemble_from(Context& ctx, F block) {
  stencil_count_ = 0;
  fill(ctx, diagonal_.data(), node_count_, Mat3::zero());
  tet_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        return block(static_cast<std::size_t>(corner / 4) * kCornerBlocks +
                     corner_block(corner % 4, corner % 4));
      },
      diagonal_.data());

  const std::int32_t* begin = assembly_begin_.data();
  const std::uint32_t* sources = assembly_.data();
  Mat3* lower = lower_.data();
  launch(
      ctx, entry_count_,
      [=] SS_LAMBDA(std::size_t e) {
        Mat3 sum = Mat3::zero();
        for (std::int32_t k = begin[e]; k < begin[e + 1]; ++k) {
          const Mat3 source = block(sources[k] >> 1);
          sum += (sources[k] & 1U) != 0 ? source.transposed() : source;
        }
        lower[e] = sum;
      },
      kMedium);
}

}  // namespace stickslip::STICKSLIP_BACKEND
