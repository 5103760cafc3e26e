// A test system in backend memory.
#pragma once

#include "gpu/linear/split_matrix.cuh"
#include "tests/linear/systems.h"

namespace stickslip::STICKSLIP_BACKEND {

struct DeviceSystem {
  DeviceSystem(Context& ctx, const test::System& system)
      : blocks(ctx, system.tets.blocks), diagonal(ctx, system.diagonal) {
    matrix.set_pattern(ctx, system.node_count, system.tets.nodes);
    assemble(ctx, system);
  }
  void assemble(Context& ctx, const test::System& system) {
    matrix.assemble(ctx, blocks.data());
    matrix.add_diagonal(ctx, diagonal.data());
    stencils.upload(ctx, system.stencils.nodes);
    stencil_blocks.upload(ctx, system.stencils.blocks);
    matrix.set_stencils(ctx, stencils.data(), stencils.size(), stencil_blocks.data());
  }
  std::vector<Vec3> times(Context& ctx, const std::vector<Vec3>& x, Real* x_dot_y = nullptr) {
    const Buffer<Vec3> from(ctx, x);
    Buffer<Vec3> to(ctx, x.size());
    Buffer<Real> dot(ctx, 1);
    matrix.multiply(ctx, from.data(), to.data(), dot.data());
    if (x_dot_y != nullptr) *x_dot_y = read_back(ctx, dot.data());
    return to.download(ctx);
  }

  SplitMatrix matrix;
  Buffer<Mat3> blocks, stencil_blocks;
  Buffer<Real> diagonal;
  Buffer<Vec4i> stencils;
};

}  // namespace stickslip::STICKSLIP_BACKEND
