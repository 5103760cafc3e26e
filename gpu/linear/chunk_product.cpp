#include "gpu/linear/chunk_product.h"

#include <algorithm>

#include "gpu/core/launch.h"

namespace stickslip::cpu {
namespace {

/// A 3-vector in a processor's 4 lanes; the last lane holds nothing that is ever read.
using Lanes = Real __attribute__((vector_size(4 * sizeof(Real))));
using UnalignedLanes = Real __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real)), may_alias));

struct View {
  std::int32_t node_count, chunk_size, last_entry;
  const std::int32_t *node, *inner_begin, *outer_begin, *column;
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

/// x and y of a node of the chunk at hand share a cache line.
struct alignas(8 * sizeof(Real)) Ends {
  Lanes x, y;
};

// How far ahead memory is asked for, in nodes or entries: past the end of the page that the processor's own
// prefetcher stops at. Prefetching beyond an array is harmless.
constexpr std::int32_t kNodesAhead = 16, kInnerAhead = 64, kOuterAhead = 24;

void load(const Vec3& x, Lanes& lanes) { lanes = Lanes{x[0], x[1], x[2], Real(0)}; }

template <class Coupled>
Real multiply_chunk(const View& m, std::size_t chunk, Coupled coupled, const Mat3* __restrict diagonal,
                    const Mat3* __restrict lower, const Vec3* __restrict x, Vec3* __restrict y) {
  Ends ends[kLargestChunk];
  const std::int32_t first = static_cast<std::int32_t>(chunk) * m.chunk_size;
  const std::int32_t size = std::min(m.chunk_size, m.node_count - first);
  const std::int32_t* node = m.node + first;
  const std::int32_t* inner = m.inner_begin + first;
  const std::int32_t* outer = m.outer_begin + first;

  for (std::int32_t i = 0; i < size; ++i) {
    const std::int32_t ahead = node[std::min(i + kNodesAhead, size - 1)];
    __builtin_prefetch(x + ahead);
    __builtin_prefetch(diagonal[ahead].m);
    __builtin_prefetch(diagonal[ahead].m + 8);
    load(x[node[i]], ends[i].x);
    ends[i].y = Lanes{};
    add_transposed_times(diagonal[node[i]], x[node[i]], ends[i].y);
  }
  for (std::int32_t i = 0; i < size; ++i) {
    const Vec3 xi{ends[i].x[0], ends[i].x[1], ends[i].x[2]};
    RowSum sum;
    for (std::int32_t e = inner[i]; e < inner[i + 1]; ++e) {
      __builtin_prefetch(lower + e + kInnerAhead);
      if (!coupled(node[i], node[m.column[e]])) continue;
      Ends& column = ends[m.column[e]];
      sum.add(BlockRows(lower[e]), column.x);
      add_transposed_times(lower[e], xi, column.y);
    }
    for (std::int32_t e = outer[i]; e < outer[i + 1]; ++e) {
      __builtin_prefetch(x + m.column[std::min(e + kOuterAhead, m.last_entry)]);
      if (!coupled(node[i], m.column[e])) continue;
      Lanes xj;
      load(x[m.column[e]], xj);
      sum.add(BlockRows(lower[e]), xj);
    }
    sum.fold(ends[i].y);
  }

  Lanes dots{};
  for (std::int32_t i = 0; i < size; ++i) {
    y[node[i]] = {ends[i].y[0], ends[i].y[1], ends[i].y[2]};
    dots += ends[i].x * ends[i].y;
  }
  return dots[0] + dots[1] + dots[2];
}

}  // namespace

std::int32_t ChunkProduct::chunk_size(std::size_t node_count) {
  return static_cast<std::int32_t>(std::clamp<std::size_t>(node_count / 16, kSmallestChunk, kLargestChunk));
}

void ChunkProduct::set_pattern(Context& ctx, const Pattern& pattern) {
  node_count_ = static_cast<std::int32_t>(pattern.node.size());
  entry_count_ = static_cast<std::int32_t>(pattern.entries.size());
  chunk_size_ = pattern.chunk_size;
  chunk_count_ = (pattern.node.size() + chunk_size_ - 1) / chunk_size_;
  node_.upload(ctx, pattern.node);
  inner_begin_.upload(ctx, pattern.inner_begin);
  outer_begin_.upload(ctx, pattern.outer_begin);
  column_.upload(ctx, pattern.column);
  dots_.resize(ctx, chunk_count_);
}

void ChunkProduct::multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y,
                            Real* x_dot_y, const std::int32_t* skip, const NodeGroup* group) {
  if (skip != nullptr && *skip != 0) return;
  const View view{node_count_,         chunk_size_,         entry_count_ - 1, node_.data(),
                  inner_begin_.data(), outer_begin_.data(), column_.data()};
  Real* dots = dots_.data();
  const auto multiply_coupled = [&](auto coupled) {
    launch(
        ctx, chunk_count_,
        [=](std::size_t chunk) { dots[chunk] = multiply_chunk(view, chunk, coupled, diagonal, lower, x, y); },
        Grain{1});
  };
  if (group != nullptr) multiply_coupled(SameGroup{group});
  else multiply_coupled(AllCoupled{});
  Real total = 0;
  for (std::size_t c = 0; c < chunk_count_; ++c) total += dots[c];
  *x_dot_y = total;
}

}  // namespace stickslip::cpu
