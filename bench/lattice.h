// The Kuhn subdivision of a lattice of nodes: six tets a cell, one per order of the axes.
#pragma once

#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// Tets of a cube of n^3 nodes; node (x, y, z) is x + n (y + n z).
inline std::vector<Vec4i> lattice_tets(std::int32_t n) {
  const Vec3i step{1, n, n * n};
  constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  std::vector<Vec4i> tets;
  for (std::int32_t z = 0; z + 1 < n; ++z)
    for (std::int32_t y = 0; y + 1 < n; ++y)
      for (std::int32_t x = 0; x + 1 < n; ++x)
        for (const auto& order : orders) {
          Vec4i tet{x + n * (y + n * z)};
          for (int k = 0; k < 3; ++k) tet[k + 1] = tet[k] + step[order[k]];
          tets.push_back(tet);
        }
  return tets;
}

}  // namespace stickslip
