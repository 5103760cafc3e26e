// The product of one chunk of nodes with its rows of D + L + L', for the CPU backend.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/core/index_range.h"
#include "gpu/math/mat.h"

namespace stickslip::cpu {

inline constexpr std::int32_t kSmallestChunk = 64, kLargestChunk = 4096;

/// A 3-vector in a processor's 4 lanes; the last lane holds nothing that is ever read.
using Lanes3 = Real __attribute__((vector_size(4 * sizeof(Real))));

inline Lanes3 to_lanes(const Vec3& x) { return Lanes3{x[0], x[1], x[2], Real(0)}; }
inline Vec3 to_vec(const Lanes3& x) { return {x[0], x[1], x[2]}; }

/// D + L + L' of a Pattern. `diagonal` and `lower` are readable for one more block than they have.
struct ChunkView {
  std::int32_t node_count, chunk_size, last_entry;
  const std::int32_t *node, *inner_begin, *outer_begin, *column;
  const std::int32_t* slot_of_node;
  const Mat3 *diagonal, *lower;  // D by node

  std::size_t chunk_count() const {
    return (static_cast<std::size_t>(node_count) + chunk_size - 1) / chunk_size;
  }
  IndexRange slots_of(std::size_t chunk) const {
    const std::size_t size = static_cast<std::size_t>(chunk_size), first = chunk * size;
    return {first, std::min(first + size, static_cast<std::size_t>(node_count))};
  }
};

/// More blocks in some rows: that of slot i has block[e] in the column of slot column[e], for e in
/// [range[i][0], range[i][1]). The last block is followed by a readable number. `range` is null where there
/// are none.
struct ChunkCouplings {
  const Vec2i* range = nullptr;
  const std::int32_t* column = nullptr;
  const Mat3* block = nullptr;
};

namespace chunk_detail {

using UnalignedLanes = Real __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real)), may_alias));

/// The rows of a block. The third reads one scalar of the next block into the idle lane.
struct LaneRows {
  explicit LaneRows(const Mat3& block) : first(block.m) {}
  const UnalignedLanes& operator[](int r) const {
    return *reinterpret_cast<const UnalignedLanes*>(first + 3 * r);
  }
  const Real* first;
};

inline void add_transposed_times(const Mat3& block, const Lanes3& x, Lanes3& y) {
  const LaneRows rows(block);
  y += rows[0] * x[0] + rows[1] * x[1] + rows[2] * x[2];
}

/// The products of a block row, summed lane by lane; `fold` adds the lanes up once, after the last block.
struct RowSum {
  Lanes3 a{}, b{}, c{};
  void add(const LaneRows& rows, const Lanes3& x) {
    a += rows[0] * x;
    b += rows[1] * x;
    c += rows[2] * x;
  }
  void fold(Lanes3& y) const {
    const Lanes3 sum{a[0] + a[1] + a[2], b[0] + b[1] + b[2], c[0] + c[1] + c[2], Real(0)};
    y += sum;
  }
};

/// x and y of a node of the chunk at hand share a cache line.
struct alignas(8 * sizeof(Real)) Ends {
  Lanes3 x, y;
};

// How far ahead memory is asked for, in nodes or entries: past the end of the page that the processor's own
// prefetcher stops at. Prefetching beyond an array is harmless.
constexpr std::int32_t kNodesAhead = 16, kInnerAhead = 64, kOuterAhead = 24;

}  // namespace chunk_detail

/// Calls result(slot, x, y) with y = (D + L + L' + couplings) x for each slot of the chunk, and returns their
/// x'y. x(slot) is x there as Lanes3, and x.ask_for(slot) prefetches it; blocks whose nodes `coupled` rejects
/// count as zero, but for the couplings.
template <class Coupled, class Vector, class Result>
Real multiply_chunk(const ChunkView& m, std::size_t chunk, const ChunkCouplings& couplings, Coupled coupled,
                    Vector x, Result result) {
  using namespace chunk_detail;
  Ends ends[kLargestChunk];
  const IndexRange slots = m.slots_of(chunk);
  const auto first = static_cast<std::int32_t>(slots.begin), size = static_cast<std::int32_t>(slots.size());
  const std::int32_t* node = m.node + first;
  const std::int32_t* inner = m.inner_begin + first;
  const std::int32_t* outer = m.outer_begin + first;
  const Mat3* __restrict diagonal = m.diagonal, * __restrict lower = m.lower;

  for (std::int32_t i = 0; i < size; ++i) {
    const std::int32_t ahead = std::min(i + kNodesAhead, size - 1);
    x.ask_for(first + ahead);
    __builtin_prefetch(diagonal[node[ahead]].m);
    __builtin_prefetch(diagonal[node[ahead]].m + 8);
    ends[i].x = x(first + i);
    ends[i].y = Lanes3{};
    add_transposed_times(diagonal[node[i]], ends[i].x, ends[i].y);
  }
  for (std::int32_t i = 0; i < size; ++i) {
    const Lanes3 xi = ends[i].x;
    RowSum sum;
    for (std::int32_t e = inner[i]; e < inner[i + 1]; ++e) {
      __builtin_prefetch(lower + e + kInnerAhead);
      if (!coupled(node[i], node[m.column[e]])) continue;
      Ends& column = ends[m.column[e]];
      sum.add(LaneRows(lower[e]), column.x);
      add_transposed_times(lower[e], xi, column.y);
    }
    for (std::int32_t e = outer[i]; e < outer[i + 1]; ++e) {
      x.ask_for_across(m.column[std::min(e + kOuterAhead, m.last_entry)]);
      __builtin_prefetch(lower + e + kOuterAhead);
      if (coupled(node[i], m.node[m.column[e]])) sum.add(LaneRows(lower[e]), x.across(m.column[e]));
    }
    if (couplings.range != nullptr) {
      const Vec2i range = couplings.range[first + i];
      for (std::int32_t e = range[0]; e < range[1]; ++e)
        sum.add(LaneRows(couplings.block[e]), x.across(couplings.column[e]));
    }
    sum.fold(ends[i].y);
  }

  Lanes3 dots{};
  for (std::int32_t i = 0; i < size; ++i) {
    result(first + i, ends[i].x, ends[i].y);
    dots += ends[i].x * ends[i].y;
  }
  return dots[0] + dots[1] + dots[2];
}

}  // namespace stickslip::cpu
