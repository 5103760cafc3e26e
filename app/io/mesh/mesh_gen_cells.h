// Solids composed of the cells of a grid.
#pragma once

#include <array>
#include <vector>

#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/mesh_gen_checks.h"

namespace stickslip {

/// n + 1 positions that divide a length centred at 0 into n equal parts.
inline std::vector<double> even_cuts(double length, int n) {
  std::vector<double> cuts;
  for (int i = 0; i <= n; ++i) cuts.push_back(length * (double(i) / n - 0.5));
  return cuts;
}

/// The cells (i, j, k) of a grid, given by its cuts along each axis, for which `keep(i, j, k)` is true. Five
/// tets per cell, one of them between four alternate corners; neighbouring cells are mirror images.
template <class F>
TetMesh box_cells(const std::array<std::vector<double>, 3>& cuts, F&& keep) {
  std::array<int, 3> n{};
  for (int c = 0; c < 3; ++c) n[c] = static_cast<int>(cuts[c].size()) - 1;
  TetMesh mesh;
  for (const double z : cuts[2])
    for (const double y : cuts[1])
      for (const double x : cuts[0]) mesh.nodes.push_back({x, y, z});
  static constexpr int even[5][4] = {{0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}, {1, 2, 4, 7}};
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        if (!keep(x, y, z)) continue;
        for (const auto& corners : even) {
          Vec4i tet{};
          for (int c = 0; c < 4; ++c) {
            const int corner = (x + y + z) % 2 == 0 ? corners[c] : corners[c] ^ 1;
            const int i = x + (corner & 1), j = y + (corner >> 1 & 1), k = z + (corner >> 2);
            tet[c] = i + (n[0] + 1) * (j + (n[1] + 1) * k);
          }
          mesh.tets.push_back(tet);
        }
      }
  drop_unused(mesh);
  return oriented(std::move(mesh));
}

}  // namespace stickslip
