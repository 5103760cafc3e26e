#include "gpu/linear/matrix_parts.h"

#include <algorithm>
#include <utility>

namespace stickslip {

MatrixParts count_parts(std::int32_t nodes, std::span<const Vec2i> entries, std::span<const Vec4i> stencils,
                        std::int32_t most_cells) {
  MatrixParts parts;
  parts.nodes = nodes;
  parts.cells = std::min(nodes, most_cells);
  parts.count.resize(static_cast<std::size_t>(parts.cells) * static_cast<std::size_t>(parts.cells));
  const auto add = [&](MatrixParts::Part part, std::int32_t row, std::int32_t column) {
    const auto cell = static_cast<std::size_t>(parts.cell_of(row)) * static_cast<std::size_t>(parts.cells) +
                      static_cast<std::size_t>(parts.cell_of(column));
    ++parts.count[cell][part];
    ++parts.total[part];
  };
  for (std::int32_t i = 0; i < nodes; ++i) add(MatrixParts::diagonal, i, i);
  for (const Vec2i& entry : entries) {
    if (entry[0] < entry[1]) continue;  // the transpose of another entry
    add(MatrixParts::elastic, entry[0], entry[1]);
    add(MatrixParts::elastic, entry[1], entry[0]);
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Vec4i& stencil : stencils)
    for (int a = 1; a < 4; ++a)
      for (int b = 0; b < a; ++b)
        if (stencil[a] >= 0 && stencil[b] >= 0) pairs.emplace_back(std::minmax(stencil[a], stencil[b]));
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& pair : pairs) {
    add(MatrixParts::contact, pair.first, pair.second);
    add(MatrixParts::contact, pair.second, pair.first);
  }
  return parts;
}

}  // namespace stickslip
