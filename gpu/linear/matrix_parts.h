// MatrixParts: where the parts of a SplitMatrix have blocks, counted in the cells of a square. Host only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// Of A = D + L + L' + C + C' [Guo24 §5.1], as it is stored: with an embedding J, of A and not of J'A J.
struct MatrixParts {
  enum Part { diagonal, elastic, contact, kParts };
  using Counts = std::array<std::int64_t, kParts>;

  std::int32_t nodes = 0;  // rows of 3x3 blocks, and columns
  std::int32_t cells = 0;  // of a side; no more than nodes
  /// Blocks of each part by cell, row by row, those of L' and C' included. A place counts once in a part,
  /// however many stencils have it; L and C may share it.
  std::vector<Counts> count;
  Counts total{};

  bool empty() const { return nodes == 0; }
  /// The cell of a row or column.
  std::int32_t cell_of(std::int32_t node) const {
    return static_cast<std::int32_t>(std::int64_t{node} * cells / nodes);
  }
  /// The first row of a cell; of `cells`: the number of nodes.
  std::int32_t first_of(std::int32_t cell) const {
    return static_cast<std::int32_t>((std::int64_t{cell} * nodes + cells - 1) / cells);
  }
  const Counts& at(std::int32_t row, std::int32_t column) const {
    return count[static_cast<std::size_t>(row) * static_cast<std::size_t>(cells) +
                 static_cast<std::size_t>(column)];
  }
};

/// `entries`: the places (row, column) of L in nodes, as SplitMatrix keeps them: a pair of nodes once, or
/// once either way. `stencils`: the nodes of contacts; -1: none. `most_cells` >= 1: along a side.
MatrixParts count_parts(std::int32_t nodes, std::span<const Vec2i> entries, std::span<const Vec4i> stencils,
                        std::int32_t most_cells);

}  // namespace stickslip
