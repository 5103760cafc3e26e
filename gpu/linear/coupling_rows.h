// The couplings of contact stencils by rows, for the CPU backend.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/node_gather.cuh"

namespace stickslip::cpu {

/// Stencils as SplitMatrix keeps them.
struct CoupledStencils {
  std::size_t nodes, count;
  const Vec4i* corners;
  const Mat3* couplings;
  NodeGather::Runs runs;
};

/// C + C': blocks that stand at the same place are added up.
class CouplingRows {
 public:
  /// `slot`: per node.
  void build(Context& ctx, const CoupledStencils& stencils, const std::int32_t* slot);
  ChunkCouplings view() const;

 private:
  bool empty_ = true;
  Buffer<Vec2i> range_;  // per slot
  Buffer<std::int32_t> column_;
  Buffer<Mat3> block_;  // and a spare one, see ChunkCouplings
};

}  // namespace stickslip::cpu
