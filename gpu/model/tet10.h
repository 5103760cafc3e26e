// A ten-node tetrahedron: the order of its nodes, the eight linear tets that subdivide it, and the stencils
// that hold its matrix blocks.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/math/corner_blocks.h"
#include "gpu/math/vec.h"

namespace stickslip {

inline constexpr int kTet10Nodes = 10, kTet10Parts = 8, kTet10Stencils = 9;

/// The corners 0 to 3, then the middles of the edges 01, 02, 03, 12, 13, 23.
struct Tet10 {
  std::int32_t v[kTet10Nodes];
  SS_HD std::int32_t operator[](int i) const { return v[i]; }
};

/// The two corners of the edge whose middle `node` is; of a corner twice itself.
SS_HD constexpr int tet10_end(int node, int side) {
  constexpr std::int8_t ends[kTet10Nodes][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 1},
                                                {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  return ends[node][side];
}

/// Corner `corner` of part `part`: the tets at the four corners, then four around the diagonal 01-23 of the
/// octahedron between them. All have an eighth of the volume of a straight-sided element.
constexpr int tet10_part(int part, int corner) {
  constexpr std::int8_t parts[kTet10Parts][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3},
                                                 {4, 9, 7, 5}, {4, 9, 8, 7}, {4, 9, 6, 8}, {4, 9, 5, 6}};
  return parts[part][corner];
}

/// Node `corner` of stencil `stencil`. Assembly takes stencils of four nodes. Nine of them, the least number,
/// hold every pair of ten nodes at least once.
SS_HD constexpr int tet10_stencil(int stencil, int corner) {
  constexpr std::int8_t stencils[kTet10Stencils][4] = {{0, 1, 2, 3}, {0, 4, 5, 6}, {0, 7, 8, 9},
                                                       {1, 2, 4, 7}, {1, 2, 5, 8}, {1, 2, 6, 9},
                                                       {3, 4, 5, 9}, {3, 6, 7, 8}, {4, 5, 7, 8}};
  return stencils[stencil][corner];
}

/// The places of a stencil (see `corner_block`) that hold a block of the element, as bits; the others hold
/// zero. A block stands in the first stencil with both of its nodes.
constexpr unsigned tet10_owned_places(int stencil) {
  const auto has = [](int s, int node) {
    for (int c = 0; c < 4; ++c)
      if (tet10_stencil(s, c) == node) return true;
    return false;
  };
  unsigned places = 0;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column <= row; ++column) {
      bool earlier = false;
      for (int s = 0; s < stencil; ++s)
        earlier = earlier || (has(s, tet10_stencil(stencil, row)) && has(s, tet10_stencil(stencil, column)));
      if (!earlier) places |= 1U << corner_block(row, column);
    }
  return places;
}

SS_HD constexpr bool tet10_owns(int stencil, int row, int column) {
  constexpr std::uint16_t owned[kTet10Stencils] = {
      tet10_owned_places(0), tet10_owned_places(1), tet10_owned_places(2),
      tet10_owned_places(3), tet10_owned_places(4), tet10_owned_places(5),
      tet10_owned_places(6), tet10_owned_places(7), tet10_owned_places(8)};
  return (owned[stencil] >> corner_block(row, column) & 1U) != 0;
}

/// Share of an element's volume or mass at each node: the diagonal of the consistent mass matrix (1/70 of the
/// mass at a corner, 8/105 at a middle), scaled to the whole mass [Hinton76]. Sums of rows would be negative
/// at corners.
SS_HD constexpr double tet10_share(int node) { return node < 4 ? 1.0 / 36 : 4.0 / 27; }

/// The element whose parts these are, and whose stencils these are.
Tet10 tet10_of_parts(std::span<const Vec4i, kTet10Parts> parts);
Tet10 tet10_of_stencils(std::span<const Vec4i, kTet10Stencils> stencils);

}  // namespace stickslip
