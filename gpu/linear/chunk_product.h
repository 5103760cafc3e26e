// ChunkProduct: y = (D + L + L') x where a chunk of nodes reads its blocks once for both triangles. For
// processors.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/linear/chunk_rows.h"
#include "gpu/linear/coupling.h"
#include "gpu/linear/pattern.h"
#include "gpu/math/mat.h"

namespace stickslip::cpu {

/// The same as RowProduct with about 0.6 of its memory traffic. An entry inside a chunk is read once and
/// applied to both its ends, in a copy of the chunk's x and y that stays in cache; an entry across chunks is
/// applied to its row. A chunk runs on one thread and writes no other chunk's y.
class ChunkProduct {
 public:
  /// Nodes per chunk: x and y of a chunk stay in the second-level cache, and a small mesh still makes enough
  /// chunks for a handful of threads. Never depends on the number of threads.
  static std::int32_t chunk_size(std::size_t node_count);
  /// Needs chunks of at most kLargestChunk.
  void set_pattern(Context& ctx, const Pattern& pattern);
  /// The rows, for loops elsewhere.
  ChunkView view(const Mat3* diagonal, const Mat3* lower) const;
  /// As RowProduct::multiply. `diagonal` and `lower` must be readable for one more block than they have.
  void multiply(Context& ctx, const Mat3* diagonal, const Mat3* lower, const Vec3* x, Vec3* y, Real* x_dot_y,
                const std::int32_t* skip = nullptr, const NodeGroup* group = nullptr);

 private:
  std::int32_t node_count_ = 0, entry_count_ = 0, chunk_size_ = 0;
  Buffer<std::int32_t> node_, inner_begin_, outer_begin_, column_, slot_of_node_;
  Buffer<Real> dots_;
};

}  // namespace stickslip::cpu
