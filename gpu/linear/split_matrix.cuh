// SplitMatrix: the symmetric block matrix A = D + L + L' + sum (C + C') of [Guo24 §5.1, App. C].
//   D  dense 3x3 diagonal blocks, the diagonals of contact stencils included
//   L  strictly lower 3x3 blocks over the fixed adjacency of the mesh
//   C  off-diagonal blocks of contact stencils, rebuilt at every Newton iteration
// The paper adds into y atomically. Here every y has one writer at a time and sums in a fixed order
// (ChunkProduct, RowProduct, NodeGather): no slower, and the same bits for any number of threads.
#pragma once

#include <optional>
#include <span>

#include "gpu/core/buffer.h"
#include "gpu/core/index_range.h"
#include "gpu/linear/body_blocks.cuh"
#include "gpu/linear/coupling.h"
#include "gpu/linear/host_blocks.h"
#include "gpu/linear/lower_product.cuh"
#include "gpu/linear/matrix_parts.h"
#include "gpu/linear/node_gather.cuh"
#include "gpu/math/corner_blocks.h"

#if !STICKSLIP_ON_CUDA
#include "gpu/linear/coupling_rows.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

/// A matrix without embedding for a kernel that stays on the device: rows of D + L + L', and the couplings
/// C + C' of stencils.
struct ResidentMatrix {
  RowView rows;
  std::size_t stencils;
  const Vec4i* nodes;
  const Mat3* couplings;
  Vec3* products;  // a place for four per stencil
  NodeGather::Runs runs;
};

class SplitMatrix {
 public:
  /// The adjacency of the mesh, in host memory: elements of one to four nodes, then -1. Throws
  /// std::invalid_argument naming an element with a bad node. With an embedding J (null for none; it must
  /// outlive this object) the matrix acts as J'A J, and the last elements are the control tets of its bodies,
  /// in their order.
  void set_pattern(Context& ctx, std::size_t node_count, std::span<const Vec4i> elements,
                   Embedding* embedding = nullptr);

  /// Overwrites D and L with the sum of the elements' blocks: 10 per element, (0,0),(1,0),(1,1),(2,0), ...
  /// (3,3) by corners; those of unused corners are not read. Contact stencils are dropped.
  void assemble(Context& ctx, const Mat3* element_blocks);
  /// The same from block(10 element + position), a device function, for blocks that are cheaper to compute
  /// than to store.
  template <class F>
  void assemble_from(Context& ctx, F block);
  /// The same in batches, so that not all blocks are in memory at once: adds the elements of one batch.
  /// Batches follow each other from the first element on; the first overwrites.
  void assemble_batch(Context& ctx, const Mat3* blocks_of_batch, IndexRange batch);
  template <class F>
  void assemble_batch_from(Context& ctx, F block, IndexRange batch);
  /// As `assemble`, where only the blocks of elements with renewed[e] != 0 have changed since the last call
  /// of this function; `known` false: all have, and other functions may have assembled since.
  void assemble_renewed(Context& ctx, const Mat3* element_blocks, const std::uint8_t* renewed, bool known);
  /// A part of these: `stiffness` alone, where it is kept. Public for nvcc.
  template <class F>
  void assemble_stiffness(Context& ctx, F block, IndexRange batch);
  /// Adds per_node[i] to block i of D, as a multiple of the identity or as a symmetric block.
  void add_diagonal(Context& ctx, const Real* per_node);
  void add_diagonal(Context& ctx, const Mat3* per_node);
  /// Overwrites D with an earlier copy of `diagonal()`, so that what was added since is gone without
  /// rounding; `stiffness` stays.
  void restore_diagonal(Context& ctx, const Mat3* per_node) {
    copy(ctx, diagonal_.data(), per_node, node_count_);
  }
  /// Takes n stencils (unused corners -1) with 10 blocks each, ordered as in `assemble`, by copy: diagonals
  /// are added to D, the others become C. At most once after each `assemble`.
  void set_stencils(Context& ctx, const Vec4i* nodes, std::size_t n, const Mat3* blocks);

  /// Whether assembly sums the elements' eigenvalues too, for `stiffness`; off at first.
  void keep_stiffness(bool keep) { keeps_stiffness_ = keep; }

  /// y = A x; *x_dot_y = x'y unless null. Nothing is done while *skip (may be null) is not zero. With
  /// `group`, one number per node, blocks that couple two groups count as zero. All backend memory.
  void multiply(Context& ctx, const Vec3* x, Vec3* y, Real* x_dot_y = nullptr,
                const std::int32_t* skip = nullptr, const NodeGroup* group = nullptr);

  std::size_t node_count() const { return node_count_; }
  /// Pairs of nodes that L couples.
  std::size_t pair_count() const { return pair_count_; }
  /// With the rows of this matrix's pattern.
  ResidentMatrix resident(const RowView& rows) {
    return {rows,
            stencil_count_,
            stencils_.data(),
            couplings_.data(),
            corner_products_.data(),
            stencil_gather_.runs()};
  }
  /// With its own rows, where this backend's product has such; null otherwise.
  std::optional<ResidentMatrix> resident() {
    const std::optional<RowView> rows = row_view(lower_product_, diagonal_.data(), lower_.data());
    return rows && embedding_ == nullptr ? std::optional(resident(*rows)) : std::nullopt;
  }
#if !STICKSLIP_ON_CUDA
  ChunkView chunk_rows() const { return lower_product_.view(diagonal_.data(), lower_.data()); }
  /// C + C' by the rows of `chunk_rows`.
  ChunkCouplings coupling_rows(Context& ctx) const;
#endif
  std::size_t stencil_count() const { return stencil_count_; }
  /// Null for none.
  const Embedding* embedding() const { return embedding_; }
  /// The 12x12 diagonal blocks of J'A J, after `set_stencils`.
  const BodyBlocks& body_blocks() const { return body_blocks_; }
  /// The diagonal blocks of A: with an embedding those of J'A J at free nodes, but not at control nodes and
  /// lattice nodes.
  const Mat3* diagonal() const { return diagonal_.data(); }
  /// The same for preconditioners, after `set_stencils`: those of J'A J at lattice nodes too, but for what
  /// couples two embedded nodes, see Embedding::reduce_diagonal.
  const Mat3* reduced_diagonal() const {
    return embedding_ != nullptr && embedding_->has_lattices() ? reduced_diagonal_.data() : diagonal_.data();
  }
  /// out = a third of the trace of each node's diagonal block; -1 at nodes that follow others, and at control
  /// nodes. One host read.
  void node_stiffness(Context& ctx, std::vector<float>& out) const;
  /// Where D, L and C have blocks. Two host reads.
  MatrixParts parts(Context& ctx, std::int32_t most_cells) const;
  /// L: the block lower()[e] stands at entries()[e] = (row, column), and its transpose at the mirrored place.
  /// A pair of nodes has one entry, or two that are each other's transposes (see Pattern).
  const Mat3* lower() const { return lower_.data(); }
  const Vec2i* entries() const { return entries_.data(); }
  std::vector<Vec2i> download_entries(Context& ctx) const { return entries_.download(ctx); }
  /// The whole matrix, copied to the host.
  HostBlocks download(Context& ctx) const;
  /// C: the nodes of the stencils, and kCouplings blocks of each: (1,0),(2,0),(2,1),(3,0),(3,1),(3,2).
  const Vec4i* stencils() const { return stencils_.data(); }
  const Mat3* couplings() const { return couplings_.data(); }
  /// Assembled eigenvalues e [N/m] by node, if kept: each element and stencil of k nodes adds to each of them
  /// three times the mean of its 3k eigenvalues, which is its trace / k; what add_diagonal adds counts as
  /// stencils of one node [Guo24 §4.2; elasticity and mass too, App. B]. All nodes of an affine body have
  /// that of its block.
  const Real* stiffness() const { return stiffness_.data(); }
  /// The corners of the elements, and of the last stencils, by node: for gradients that come by corner too.
  const NodeGather& element_gather() const { return element_gather_; }
  const NodeGather& stencil_gather() const { return stencil_gather_; }

 private:
  // Stages of `multiply` and `set_stencils`.
  void multiply_all_nodes(Context& ctx, const Vec3* x, Vec3* y, Real* x_dot_y, const std::int32_t* skip,
                          const NodeGroup* group);
  /// y += (C + C') x of the couplings that pass.
  template <class Coupled>
  void add_stencil_products(Context& ctx, Coupled coupled, const Vec3* x, Vec3* y, Real* x_dot_y,
                            const std::int32_t* skip);
  void assemble_bodies(Context& ctx);
  void assemble_lattices(Context& ctx);
  void drop_stencils() { set_stencil_count(0); }
  void set_stencil_count(std::size_t n) {
    stencil_count_ = n;
#if !STICKSLIP_ON_CUDA
    knows_coupling_rows_ = false;
#endif
  }

  std::size_t node_count_ = 0, element_count_ = 0, pair_count_ = 0, entry_count_ = 0, stencil_count_ = 0;
  bool keeps_stiffness_ = false;
  Buffer<Mat3> diagonal_, lower_;  // each with one spare block, see ChunkProduct
  Buffer<Mat3> element_diagonal_;  // of assemble_renewed: D of the elements alone
  Buffer<Vec2i> entries_;
  Buffer<std::int32_t> assembly_begin_;  // see Pattern
  Buffer<std::uint32_t> assembly_;
  NodeGather element_gather_;
  LowerProduct lower_product_;

  NodeGather stencil_gather_;
  Buffer<Vec4i> stencils_;
  Buffer<Mat3> couplings_;
  Buffer<Vec3> corner_products_;  // 4 per stencil
  Buffer<Real> dots_;             // of the two parts of the product
#if !STICKSLIP_ON_CUDA
  mutable CouplingRows coupling_rows_;
  mutable bool knows_coupling_rows_ = false;
#endif
  Buffer<Real> stiffness_, element_stiffness_;
  Buffer<std::uint8_t> element_corners_;  // per element; empty: four each

  Embedding* embedding_ = nullptr;
  BodyBlocks body_blocks_;
  Buffer<std::int32_t> control_entries_;  // see BodyBlockSources
  Buffer<Vec3> expanded_;                 // J x
  Buffer<Mat3> reduced_diagonal_;         // with lattices
};

template <class F>
void SplitMatrix::assemble_from(Context& ctx, F block) {
  assemble_batch_from(ctx, block, {0, element_count_});
}

template <class F>
void SplitMatrix::assemble_batch_from(Context& ctx, F block, IndexRange batch) {
  const bool overwrite = batch.begin == 0;
  drop_stencils();
  if (overwrite) fill(ctx, diagonal_.data(), node_count_, Mat3::zero());
  element_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const auto element = static_cast<std::size_t>(corner / 4);
        return batch.has(element) ? block(element * kCornerBlocks + corner_block(corner % 4, corner % 4))
                                  : Mat3::zero();
      },
      diagonal_.data());
  assemble_stiffness(ctx, block, batch);

  const std::int32_t* begin = assembly_begin_.data();
  const std::uint32_t* sources = assembly_.data();
  Mat3* lower = lower_.data();
  const std::size_t first = batch.begin * kCornerBlocks, last = batch.end * kCornerBlocks;
  launch(
      ctx, entry_count_,
      [=] SS_LAMBDA(std::size_t e) {
        Mat3 sum = overwrite ? Mat3::zero() : lower[e];
        for (std::int32_t k = begin[e]; k < begin[e + 1]; ++k) {
          const std::size_t index = sources[k] >> 1;
          if (index < first || index >= last) continue;
          const Mat3 source = block(index);
          sum += (sources[k] & 1U) != 0 ? source.transposed() : source;
        }
        lower[e] = sum;
      },
      kMedium);
}

template <class F>
void SplitMatrix::assemble_stiffness(Context& ctx, F block, IndexRange batch) {
  if (!keeps_stiffness_) return;
  stiffness_.resize(ctx, node_count_);
  element_stiffness_.resize(ctx, batch.size());
  if (batch.begin == 0) fill(ctx, stiffness_.data(), node_count_, Real(0));
  Real* stiffness = element_stiffness_.data();
  const std::uint8_t* corners = element_corners_.data();
  const bool all_four = element_corners_.size() == 0;
  launch(ctx, batch.size(), [=] SS_LAMBDA(std::size_t e) {
    const std::size_t element = batch.begin + e;
    const int n = all_four ? 4 : corners[element];
    Real sum = 0;
    for (int a = 0; a < n; ++a) sum += trace(block(element * kCornerBlocks + corner_block(a, a)));
    stiffness[e] = sum / static_cast<Real>(n);
  });
  element_gather_.sum(
      ctx,
      [=] SS_LAMBDA(std::int32_t corner) {
        const auto element = static_cast<std::size_t>(corner / 4);
        return batch.has(element) ? stiffness[element - batch.begin] : Real(0);
      },
      stiffness_.data());
}

}  // namespace stickslip::STICKSLIP_BACKEND
