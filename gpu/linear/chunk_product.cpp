#include "gpu/linear/chunk_product.h"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::cpu {
namespace {

/// A 3-vector in a processor's 4 lanes; the last lane holds nothing that is ever read.
using Lanes = Real __attribute__((vector_size(4 * sizeof(Real))));
using UnalignedLanes = Real __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real)), may_alias));

struct View {
  std::int32_t node_count, chunk_size, inner_count;
  const std::int32_t *node, *inner_begin, *inner_column, *outer_begin, *outer_column;
};

/// The rows of a block. The third reads one scalar of the next block into the idle lane.
struct BlockRows {
  explicit BlockRows(const Mat3& block) : first(block.m) {}
  const UnalignedLanes& operator[](int r) const {
    return *reinterpret_cast<const UnalignedLanes*>(first + 3 * r);
  }
  const Real* first;
};

void add_transposed_times(const Mat3& block, const Vec3& x, Lanes& y) {
  const BlockRows rows(block);
  y += rows[0] * x[0] + rows[1] * x[1] + rows[2] * x[2];
}

/// The products of a block row, summed lane by lane; `fold` adds the lanes up once, after the last block.
struct RowSum {
  Lanes a{}, b{}, c{};
  void add(const BlockRows& rows, const Lanes& x) {
    a += rows[0] * x;
    b += rows[1] * x;
    c += rows[2] * x;
  }
  void fold(Lanes& y) const {
    const Lanes sum{a[0] + a[1] + a[2], b[0] + b[1] + b[2], c[0] + c[1] + c[2], Real(0)};
    y += sum;
  }
};

Real multiply_chunk(const View& m, std::size_t chunk, const Mat3* __restrict diagonal,
                    const Mat3* __restrict lower, const Vec3* __restrict x, Vec3* __restrict y) {
  Lanes xs[kLargestChunk], ys[kLargestChunk];
  const std::int32_t first = static_cast<std::int32_t>(chunk) * m.chunk_size;
  const std::int32_t size = std::min(m.chunk_size, m.node_count - first);
  const std::int32_t* node = m.node + first;
  const std::int32_t* inner = m.inner_begin + first;
  const std::int32_t* outer = m.outer_begin + first;

  for (std::int32_t i = 0; i < size; ++i) {
    const Vec3& xi = x[node[i]];
    xs[i] = Lanes{xi[0], xi[1], xi[2], Real(0)};
    ys[i] = Lanes{};
    add_transposed_times(diagonal[node[i]], xi, ys[i]);
  }
  for (std::int32_t i = 0; i < size; ++i) {
    const Vec3 xi{xs[i][0], xs[i][1], xs[i][2]};
    RowSum sum;
    for (std::int32_t e = inner[i]; e < inner[i + 1]; ++e) {
      const std::int32_t j = m.inner_column[e];
      sum.add(BlockRows(lower[e]), xs[j]);
      add_transposed_times(lower[e], xi, ys[j]);
    }
    for (std::int32_t e = outer[i]; e < outer[i + 1]; ++e) {
      const Vec3& xj = x[m.outer_column[e - m.inner_count]];
      sum.add(BlockRows(lower[e]), Lanes{xj[0], xj[1], xj[2], Real(0)});
    }
    sum.fold(ys[i]);
  }

  Lanes dots{};
  for (std::int32_t i = 0; i < size; ++i) {
    y[node[i]] = {ys[i][0], ys[i][1], ys[i][2]};
    dots += xs[i] * ys[i];
  }
  return dots[0] + dots[1] + dots[2];
}

}  // namespace

void ChunkProduct::set_pattern(Context& ctx, const Pattern& pattern) {
  node_count_ = static_cast<std::int32_t>(pattern.node.size());
  chunk_size_ = pattern.chunk_size;
  chunk_count_ = (pattern.node.size() + chunk_size_ - 1) / chunk_size_;
  inner_count_ = pattern.inner_count();
  node_.upload(ctx, pattern.node);
  inner_begin_.upload(ctx, pattern.inner_begin);
  inner_column_.upload(ctx, pattern.inner_column);
  outer_begin_.upload(ctx, pattern.outer_begin);
  std::vector<std::int32_t> outer_column;
  for (std::size_t e = inner_count_; e < pattern.entries.size(); ++e)
    outer_column.push_back(pattern.entries[e][1]);
  outer_column_.upload(ctx, outer_column);
  dots_.resize(ctx, chunk_count_);
}

void ChunkProduct::multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y,
                            Real* x_dot_y, const std::int32_t* skip) {
  if (skip != nullptr && *skip != 0) return;
  const View view{node_count_,         chunk_size_,          inner_count_,        node_.data(),
                  inner_begin_.data(), inner_column_.data(), outer_begin_.data(), outer_column_.data()};
  Real* dots = dots_.data();
  launch(
      ctx, chunk_count_,
      [=](std::size_t chunk) { dots[chunk] = multiply_chunk(view, chunk, diagonal, lower, x, y); }, Grain{1});
  Real total = 0;
  for (std::size_t c = 0; c < chunk_count_; ++c) total += dots[c];
  *x_dot_y = total;
}

}  // namespace stickslip::cpu
