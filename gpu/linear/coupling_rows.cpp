#include "gpu/linear/coupling_rows.h"

#include "gpu/core/launch.h"
#include "gpu/math/corner_blocks.h"

namespace stickslip::cpu {
namespace {

/// Where the coupling of corners a > b of a stencil stands among its couplings.
constexpr int coupling_index(int a, int b) { return a * (a - 1) / 2 + b; }

/// The blocks of one row, in the places that it has for them.
struct RowBuilder {
  std::int32_t* column;
  Mat3* block;
  std::int32_t count = 0;

  void add(std::int32_t j, const Mat3& b) {
    for (std::int32_t e = 0; e < count; ++e)
      if (column[e] == j) {
        block[e] += b;
        return;
      }
    column[count] = j;
    block[count++] = b;
  }
};

}  // namespace

void CouplingRows::build(Context& ctx, const CoupledStencils& stencils, const std::int32_t* slot) {
  empty_ = stencils.count == 0;
  if (empty_) return;
  range_.resize(ctx, stencils.nodes);
  column_.resize(ctx, 3 * 4 * stencils.count);
  block_.resize(ctx, 3 * 4 * stencils.count + 1);
  fill(ctx, range_.data(), stencils.nodes, Vec2i{0, 0});
  const NodeGather::Runs runs = stencils.runs;
  const Vec4i* nodes = stencils.corners;
  const Mat3* couplings = stencils.couplings;
  const auto n = static_cast<std::uint32_t>(stencils.nodes);
  Vec2i* range = range_.data();
  std::int32_t* column = column_.data();
  Mat3* block = block_.data();
  launch(
      ctx, static_cast<std::size_t>(*runs.count),
      [=](std::size_t run) {
        const std::uint32_t node = runs.node[run];
        if (node == n) return;
        const std::int32_t first = 3 * runs.begin[run];
        RowBuilder row{column + first, block + first};
        for (std::int32_t k = runs.begin[run]; k < runs.begin[run + 1]; ++k) {
          const std::int32_t s = runs.corner[k] / 4, a = runs.corner[k] % 4;
          const Mat3* of_stencil = couplings + static_cast<std::size_t>(s) * kCouplings;
          for (int b = 0; b < 4; ++b) {
            if (b == a || nodes[s][b] < 0) continue;
            row.add(slot[nodes[s][b]],
                    a > b ? of_stencil[coupling_index(a, b)] : of_stencil[coupling_index(b, a)].transposed());
          }
        }
        range[slot[node]] = {first, first + row.count};
      },
      kHeavy);
}

ChunkCouplings CouplingRows::view() const {
  if (empty_) return {};
  return {range_.data(), column_.data(), block_.data()};
}

}  // namespace stickslip::cpu
