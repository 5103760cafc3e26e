// A body-centred cubic lattice: points at the corners and centres of cubes, and the tets between them.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/math/vec.h"

namespace stickslip {

/// Corners have the lower point numbers. Edges run between neighbouring points of one kind ("long", one
/// spacing) and from each centre to the corners around it ("short", sqrt(3)/2 spacings).
struct BccLattice {
  Vec<double, 3> origin{};  // corner (0, 0, 0) [m]
  double spacing = 1;       // [m]
  Vec3i cells{};

  std::int64_t corner_count() const { return std::int64_t(cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1); }
  std::int64_t point_count() const { return corner_count() + std::int64_t(cells[0]) * cells[1] * cells[2]; }
  std::int32_t corner(int i, int j, int k) const { return i + (cells[0] + 1) * (j + (cells[1] + 1) * k); }
  std::int32_t center(int i, int j, int k) const {
    return static_cast<std::int32_t>(corner_count()) + i + cells[0] * (j + cells[1] * k);
  }
  Vec<double, 3> position(std::int32_t point) const {
    const bool is_corner = point < corner_count();
    const int extra = is_corner ? 1 : 0;
    std::int64_t rest = is_corner ? point : point - corner_count();
    const double half = is_corner ? 0 : 0.5;
    Vec<double, 3> p = origin;
    for (int c = 0; c < 3; ++c) {
      p[c] += spacing * (half + static_cast<double>(rest % (cells[c] + extra)));
      rest /= cells[c] + extra;
    }
    return p;
  }
  bool is_long(std::int32_t a, std::int32_t b) const { return (a < corner_count()) == (b < corner_count()); }

  /// Calls visit(a, b) once for each edge from a point of the cubes in [low, high]; b may lie outside.
  template <class F>
  void for_each_edge(const Vec3i& low, const Vec3i& high, F&& visit) const {
    for (int k = low[2]; k <= high[2]; ++k)
      for (int j = low[1]; j <= high[1]; ++j)
        for (int i = low[0]; i <= high[0]; ++i) {
          const std::int32_t here = corner(i, j, k);
          if (i < cells[0]) visit(here, corner(i + 1, j, k));
          if (j < cells[1]) visit(here, corner(i, j + 1, k));
          if (k < cells[2]) visit(here, corner(i, j, k + 1));
          if (i >= cells[0] || j >= cells[1] || k >= cells[2]) continue;
          const std::int32_t middle = center(i, j, k);
          if (i + 1 < cells[0]) visit(middle, center(i + 1, j, k));
          if (j + 1 < cells[1]) visit(middle, center(i, j + 1, k));
          if (k + 1 < cells[2]) visit(middle, center(i, j, k + 1));
          for (int c = 0; c < 8; ++c) visit(middle, corner(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)));
        }
  }

  /// Calls visit({a, b, c, d}) for each tet: two neighbouring centres and an edge of the square between them.
  template <class F>
  void for_each_tet(F&& visit) const {
    for (int k = 0; k < cells[2]; ++k)
      for (int j = 0; j < cells[1]; ++j)
        for (int i = 0; i < cells[0]; ++i)
          for (int axis = 0; axis < 3; ++axis) {
            Vec3i next{i, j, k};
            if (++next[axis] >= cells[axis]) continue;
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            std::array<std::int32_t, 4> square{};
            for (int c = 0; c < 4; ++c) {
              Vec3i p = next;
              p[u] += c == 1 || c == 2;
              p[v] += c >= 2;
              square[c] = corner(p[0], p[1], p[2]);
            }
            for (int c = 0; c < 4; ++c)
              visit(std::array<std::int32_t, 4>{center(i, j, k), center(next[0], next[1], next[2]), square[c],
                                                square[(c + 1) % 4]});
          }
  }
};

}  // namespace stickslip
