// Refines a coarse tet mesh: each tet becomes n^3 small ones.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "app/io/mesh/mesh_gen_checks.h"

namespace stickslip {

/// Freudenthal's subdivision of each tet. The corners of each must ascend: then two tets agree on their
/// common face. The lattice points (s, i, j) with n >= s >= i >= j >= 0 have the weights n - s, s - i, i - j,
/// j of the corners; `position(tet, weights)` returns their positions.
template <class F>
TetMesh refined(const std::vector<Vec4i>& tets, int n, F&& position) {
  using Weights = std::array<int, 4>;
  TetMesh mesh;
  std::map<std::array<std::pair<int, int>, 4>, int> ids;  // key: corners with nonzero weight, and the weight
  const auto node = [&](const Vec4i& tet, const std::array<int, 3>& p) {
    const Weights weights{n - p[0], p[0] - p[1], p[1] - p[2], p[2]};
    std::array<std::pair<int, int>, 4> key{};
    int used = 0;
    for (int c = 0; c < 4; ++c)
      if (weights[c] > 0) key[used++] = {tet[c], weights[c]};
    const auto [entry, added] = ids.try_emplace(key, static_cast<int>(mesh.nodes.size()));
    if (added) mesh.nodes.push_back(position(tet, weights));
    return entry->second;
  };
  static constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const auto inside = [&](const std::array<int, 3>& p) {
    return p[0] <= n && p[0] >= p[1] && p[1] >= p[2] && p[2] >= 0;
  };
  for (const Vec4i& tet : tets)
    for (int s = 0; s < n; ++s)
      for (int i = 0; i <= s; ++i)
        for (int j = 0; j <= i; ++j)
          for (const auto& order : orders) {
            std::array<int, 3> p{s, i, j};
            std::array<std::array<int, 3>, 4> corners{p};
            for (int c = 0; c < 3; ++c) {
              ++p[order[c]];
              corners[c + 1] = p;
            }
            bool all_inside = true;
            for (const auto& corner : corners) all_inside = all_inside && inside(corner);
            if (!all_inside) continue;
            Vec4i small{};
            for (int c = 0; c < 4; ++c) small[c] = node(tet, corners[c]);
            mesh.tets.push_back(small);
          }
  return oriented(std::move(mesh));
}

}  // namespace stickslip
