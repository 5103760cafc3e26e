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

/// Trilinear within the grid; the normal is the direction of its gradient. Outside: from the point of the
/// surface that the nearest point of the grid sees nearest. p in the grid's frame.
SS_HD_LARGE inline SurfaceDistance field_distance(const DistanceGridView& grid, const Vec<double, 3>& p) {
  double f[3];
  std::int32_t cell[3];
  Vec<double, 3> beyond{0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    const double last = grid.nodes[k] - 1, at = (p[k] - grid.origin[k]) / grid.spacing;
    const double inside = at > 0 ? (at < last ? at : last) : 0.0;
    beyond[k] = grid.spacing * (at - inside);
    cell[k] = static_cast<std::int32_t>(inside);
    if (cell[k] > grid.nodes[k] - 2) cell[k] = grid.nodes[k] - 2;
    f[k] = inside - cell[k];
  }
  const std::int64_t row = grid.nodes[0], slice = row * grid.nodes[1];
  const float* v = grid.values + cell[0] + row * cell[1] + slice * cell[2];
  // x, then y, then z; each step leaves a value and the slopes found so far.
  double value[2][2], slope_x[2][2];
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j) {
      const double low = v[j * row + k * slice], high = v[j * row + k * slice + 1];
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
