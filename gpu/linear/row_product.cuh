// RowProduct: y = (D + L + L') x where every row gathers all its blocks. For many threads.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/coupling.h"
#include "gpu/linear/pattern.h"
#include "gpu/math/mat.h"

namespace stickslip::STICKSLIP_BACKEND {

/// D + L + L' by rows, in backend memory, for kernels.
struct RowView {
  std::size_t node_count;
  const Mat3 *diagonal, *lower;
  const std::int32_t* begin;  // per node and one more
  const BlockUse* uses;

  /// Scalar row i of 3 node_count, times x, with the blocks that `coupled` lets through. `x`: a pointer, or
  /// anything whose [i] is a Vec3.
  template <class Coupled, class Vector>
  SS_HD Real times(Coupled coupled, std::size_t i, const Vector& x) const {
    const std::size_t node = i / 3;
    const int r = static_cast<int>(i % 3);
    Real sum = dot(diagonal[node].row(r), x[node]);
    for (std::int32_t k = begin[node]; k < begin[node + 1]; ++k) {
      const BlockUse use = uses[k];
      if (!coupled(static_cast<std::int32_t>(node), use.other)) continue;
      const Mat3& block = lower[use.block >> 1];
      // Row r of the block, or of its transpose.
      const Real* first = block.m + ((use.block & 1U) != 0 ? r : 3 * r);
      const int stride = (use.block & 1U) != 0 ? 3 : 1;
      const Vec3& other = x[use.other];
      sum += first[0] * other[0] + first[stride] * other[1] + first[2 * stride] * other[2];
    }
    return sum;
  }
};

/// A block is read twice, for its row and for its column, but every y has one writer and no row waits for
/// another. One thread per scalar row.
class RowProduct {
 public:
  /// All nodes in one chunk: every block is stored once.
  static std::int32_t chunk_size(std::size_t node_count) {
    return node_count > 0 ? static_cast<std::int32_t>(node_count) : 1;
  }
  void set_pattern(Context& ctx, const Pattern& pattern);
  /// `diagonal`: symmetric blocks by node, `lower`: by entry of the pattern. *x_dot_y = x'y. Nothing is done
  /// while *skip (may be null) is not zero. With `group`, blocks that couple two groups count as zero. All in
  /// backend memory.
  void multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y, Real* x_dot_y,
                const std::int32_t* skip = nullptr, const NodeGroup* group = nullptr);

  RowView view(const Mat3* diagonal, const Mat3* lower) const {
    return {node_count_, diagonal, lower, begin_.data(), uses_.data()};
  }

 private:
  std::size_t node_count_ = 0;
  Buffer<std::int32_t> begin_;
  Buffer<BlockUse> uses_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
