// A signed distance field between its nodes, and beyond them.
#pragma once

#include "gpu/core/out_of_line.h"
#include "gpu/geometry/shape.h"

namespace stickslip {

/// The signed distance of a point from a surface, < 0 inside, and the outward unit normal there.
struct SurfaceDistance {
  double distance;  // [m]
  Vec<double, 3> normal;
};

/// The cell that contains a place, a multiple of the spacing from the origin along each axis: the place
/// within it, in [0, 1], and its corners, of which bit k tells the upper side along axis k.
struct FieldCell {
  double f[3];
  float v[8];
};
SS_HD inline FieldCell field_cell(const DistanceGridView& grid, const double (&place)[3]) {
  FieldCell found;
  std::int32_t cell[3];
  for (int k = 0; k < 3; ++k) {
    cell[k] = static_cast<std::int32_t>(place[k]);
    if (cell[k] > grid.nodes[k] - 2) cell[k] = grid.nodes[k] - 2;
  }
  if (grid.tree == nullptr) {
    const std::int64_t row = grid.nodes[0], slice = row * grid.nodes[1];
    const float* v = grid.values + cell[0] + row * cell[1] + slice * cell[2];
    for (int c = 0; c < 8; ++c) found.v[c] = v[(c & 1) + (c >> 1 & 1) * row + (c >> 2) * slice];
    for (int k = 0; k < 3; ++k) found.f[k] = place[k] - cell[k];
    return found;
  }
  std::int32_t level = grid.levels;
  const std::int32_t roots0 = (grid.nodes[0] - 1) >> level, roots1 = (grid.nodes[1] - 1) >> level;
  std::int32_t at =
      grid.tree[(cell[0] >> level) + roots0 * ((cell[1] >> level) + roots1 * (cell[2] >> level))];
  while (at >= 0) {
    --level;
    at = grid.tree[at + (cell[0] >> level & 1) + 2 * (cell[1] >> level & 1) + 4 * (cell[2] >> level & 1)];
  }
  const float* v = grid.values + 8 * (-1 - static_cast<std::int64_t>(at));
  for (int c = 0; c < 8; ++c) found.v[c] = v[c];
  const double size = 1 << level;
  for (int k = 0; k < 3; ++k) found.f[k] = (place[k] - (cell[k] >> level << level)) / size;
  return found;
}

/// Trilinear within a cell; the normal is the direction of its gradient. Outside of the grid: from the point
/// of the surface that the nearest point of the grid sees nearest. p in the grid's frame.
SS_HD_LARGE inline SurfaceDistance field_distance(const DistanceGridView& grid, const Vec<double, 3>& p) {
  double place[3];
  Vec<double, 3> beyond{0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    const double last = grid.nodes[k] - 1, at = (p[k] - grid.origin[k]) / grid.spacing;
    const double inside = at > 0 ? (at < last ? at : last) : 0.0;
    beyond[k] = grid.spacing * (at - inside);
    place[k] = inside;
  }
  const FieldCell cell = field_cell(grid, place);
  const auto& f = cell.f;
  // x, then y, then z; each step leaves a value and the slopes found so far.
  double value[2][2], slope_x[2][2];
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j) {
      const double low = cell.v[2 * j + 4 * k], high = cell.v[2 * j + 4 * k + 1];
      slope_x[k][j] = high - low;
      value[k][j] = low + f[0] * slope_x[k][j];
    }
  const double y0 = value[0][1] - value[0][0], y1 = value[1][1] - value[1][0];
  const double z0 = value[0][0] + f[1] * y0, z1 = value[1][0] + f[1] * y1;
  const double x0 = slope_x[0][0] + f[1] * (slope_x[0][1] - slope_x[0][0]);
  const double x1 = slope_x[1][0] + f[1] * (slope_x[1][1] - slope_x[1][0]);
  Vec<double, 3> n = normalized(Vec<double, 3>{x0 + f[2] * (x1 - x0), y0 + f[2] * (y1 - y0), z1 - z0});
  // Where the field is flat, at the middle of a solid, any direction will do.
  if (!(norm2(n) > 0.5)) n = {0, 1, 0};
  const double d = z0 + f[2] * (z1 - z0);
  if (norm2(beyond) == 0) return {d, n};
  const Vec<double, 3> way = beyond + d * n;
  const double length = norm(way);
  return length > 0 ? SurfaceDistance{length, way / length} : SurfaceDistance{0, n};
}

}  // namespace stickslip
