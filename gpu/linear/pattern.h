// Pattern: which blocks of L exist, where each stands in memory, and which element blocks add up to it. Host
// only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// The nodes are cut into chunks, grown breadth-first over the mesh so that most edges stay inside one chunk;
/// within a chunk nodes ascend. `slot` numbers the nodes chunk by chunk. Two adjacent nodes of one chunk have
/// one entry (row, column), row > column, which stands for L and L'. Two adjacent nodes of different chunks
/// have two entries, one in the row of each: about 13% more to store, so that a chunk finds all that it reads
/// in one place. Entries inside chunks come first, by the slot of their row; then those across chunks,
/// likewise.
struct Pattern {
  std::int32_t chunk_size = 0;            // slots of chunk c: [c chunk_size, min(n, (c + 1) chunk_size))
  std::vector<std::int32_t> node;         // per slot
  std::vector<Vec2i> entries;             // node coordinates (row, column)
  std::vector<std::int32_t> inner_begin;  // per slot and one more: the row's entries inside its chunk
  std::vector<std::int32_t>
      inner_column;  // per entry inside a chunk: slot of the column minus the chunk's first
  std::vector<std::int32_t> outer_begin;  // per slot and one more: the row's entries across chunks
  std::vector<std::int32_t> column;  // per entry: slot of the column; inside chunks, minus the chunk's first
  std::vector<std::int32_t> assembly_begin;  // per entry and one more
  std::vector<std::uint32_t> assembly;  // element blocks of an entry: (10 element + block) << 1 | transposed

  std::int32_t inner_count() const { return inner_begin.back(); }
  /// Pairs of adjacent nodes: what L would hold without chunks.
  std::size_t pair_count() const { return (entries.size() + inner_count()) / 2; }
};

/// `elements`: one to four different nodes in [0, node_count), then -1; chunk_size >= 1. Throws
/// std::invalid_argument naming the element.
Pattern make_pattern(std::size_t node_count, std::span<const Vec4i> elements, std::int32_t chunk_size);

/// One use of a block of L in the row of a node: y[node] += B x[other], or B' x[other].
struct BlockUse {
  std::uint32_t block;  // entry << 1 | transposed
  std::int32_t other;
};
struct RowUses {
  std::vector<std::int32_t> begin;  // per node and one more
  std::vector<BlockUse> uses;       // of a node, ascending by the other node
};
/// The rows of L + L', whatever chunks its entries were made for.
RowUses list_rows(const Pattern& pattern);

}  // namespace stickslip
