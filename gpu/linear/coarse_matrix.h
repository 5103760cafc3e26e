// CoarseMatrix: a sparse symmetric matrix of 12x12 blocks and its factors. Host only.
#pragma once

#include <span>
#include <vector>

#include "gpu/core/arena.h"
#include "gpu/linear/coarse_solve.h"

namespace stickslip {

/// The Galerkin matrix Z'A Z of affine motions of groups of nodes: one row of blocks for each group.
class CoarseMatrix {
 public:
  /// Blocks off the diagonal: `pairs` of different groups, each in any order and any number of times. All
  /// blocks are zero then. Finds the order of elimination (minimum degree) unless the pairs are the last
  /// ones.
  void begin(std::int32_t groups, std::span<const Vec2i> pairs);
  std::int32_t groups() const { return groups_; }

  /// Adds b at (g, h) and b' at (h, g); for g = h that is b + b'.
  void add(std::int32_t g, std::int32_t h, const CoarseBlock& b);

  /// Factorises. A motion that no other number resists (all nodes of a group on a line, or only one) has
  /// hardly any row: its diagonal gets a ridge. `arena`: threads that help, or null; the factors do not
  /// depend on them.
  void factorise(Arena* arena = nullptr);
  /// Valid until the next `begin`.
  CoarseFactors factors() const;
  /// The blocks that the factors have off the diagonal.
  std::size_t block_count() const { return block_.size(); }

 private:
  void find_order(std::span<const Vec2i> pairs);
  CoarseBlock& off_diagonal(std::int32_t row, std::int32_t column);
  void eliminate(std::int32_t k, Arena* arena);
  void update_row(std::int32_t begin, std::int32_t end, const CoarseBlock& inverse, std::int32_t e);

  std::int32_t groups_ = 0;
  std::vector<Vec2i> pairs_;                   // sorted and unique
  std::vector<std::int32_t> group_, place_;    // the group at each place, the place of each group
  std::vector<std::int32_t> row_, column_;     // see CoarseFactors
  std::vector<CoarseBlock> block_, diagonal_;  // by place; factors in place
  std::vector<CoarseBlock> product_;           // of an elimination
};

}  // namespace stickslip
