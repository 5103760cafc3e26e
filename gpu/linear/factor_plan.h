// FactorPlan: the sparse Cholesky factors of a block matrix, as far as its pattern determines them. Host
// only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// Scalars after each panel that may be read: products are computed in tiles.
inline constexpr std::int32_t kFactorSpare = 48;

/// Columns of L with nearly the same rows, kept as one dense panel. All numbers are of nodes, which have
/// three rows each, in their order of elimination.
struct FactorPanel {
  std::int32_t first, width;                // its columns
  std::int32_t rows_begin, rows_end;        // into FactorPlan::rows: its rows below the diagonal block
  std::int32_t entries_begin, entries_end;  // into FactorPlan::entries
  std::int32_t updates_begin, updates_end;  // into FactorPlan::updates
  std::int64_t values;  // of L: column c of its 3 width columns starts at values + c leading()

  SS_HD std::int32_t below() const { return rows_end - rows_begin; }
  /// Scalar rows of the panel.
  SS_HD std::int32_t leading() const { return 3 * (width + below()); }
};

/// What an earlier panel subtracts from the panel that lists this: its rows from `from` to `to` (counted from
/// its rows_begin) are columns of the later panel, and all its rows from `from` on are rows of it, the k-th
/// of which is row places[place_begin + k].
struct FactorUpdate {
  std::int32_t panel, from, to, place_begin;
};

/// A block of the matrix: that of `source` (twice the entry, plus 1 if transposed), at this row and column of
/// its panel.
struct FactorEntry {
  std::int32_t source, row, column;
};

/// L L' = A over the members, in the order of elimination `node`. Panels follow their columns. A task is a
/// run of panels in `sequence`; the tasks of a stage need nothing of each other and only panels of earlier
/// stages.
struct FactorPlan {
  std::vector<std::int32_t> node;  // per column
  std::vector<FactorPanel> panels;
  std::vector<std::int32_t> rows;
  std::vector<FactorEntry> entries;
  std::vector<FactorUpdate> updates;
  std::vector<std::int32_t> places;
  std::vector<std::int32_t> sequence, task_begin, stage_begin;
  std::int64_t values = 0;     // scalars of L
  double multiplications = 0;  // to compute L

  bool empty() const { return panels.empty(); }
};

/// `pairs`: nodes (i, j) of the block A_ij of each pair that the matrix couples; of two that are each other's
/// mirror images one suffices. Pairs with a node that is not a member are left out. An empty plan if the
/// factors would have more than `most_values` scalars.
FactorPlan make_factor_plan(std::span<const std::uint8_t> is_member, std::span<const Vec2i> pairs,
                            std::int64_t most_values);

}  // namespace stickslip
