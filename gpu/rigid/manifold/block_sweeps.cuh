// BlockSweeps: Gauss-Seidel over blocks of any law, such as joints, beside the manifolds of ManifoldSolver.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/rigid/manifold/block_groups.h"
#include "gpu/rigid/manifold/swept_block.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Blocks are solved exactly, one after the other within a group and colour by colour (BlockGroups), on the
/// velocities that ManifoldSolver sweeps. The impulses, D per block, are the caller's.
template <int D>
class BlockSweeps {
 public:
  /// Takes n blocks from fill(c), a ConstraintBlock<D>; `groups` must stay valid. `inverse`: per body.
  template <class Fill>
  void build(Context& ctx, std::size_t n, const BlockGroups& groups, const BodyInverse* inverse, Fill fill);

  std::size_t size() const { return blocks_.size(); }
  const SweptBlock<D>* blocks() const { return blocks_.data(); }
  /// E and w of each row.
  const Vec<double, 2>* soft() const { return soft_.data(); }

  /// Updates all blocks, in reversed order if `backward`, unless *halt (null: always).
  void sweep(Context& ctx, bool backward, const std::int32_t* halt, double* impulse, double* v);
  /// v += A^-1 H' r of all blocks.
  void apply(Context& ctx, const double* impulse, double* v);

 private:
  BlockGroups groups_;
  Buffer<SweptBlock<D>> blocks_;
  Buffer<Vec<double, 2>> soft_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
