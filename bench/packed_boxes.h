// Closed surfaces that move close to each other, for measuring collision queries.
#pragma once

#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

struct PackedSurface {
  std::vector<Vec3> x, p;  // positions and displacements of one step [m]
  std::vector<Vec3i> triangles;
  std::vector<Vec2i> edges;         // each once, smaller index first
  std::vector<std::int32_t> nodes;  // all
  double d_hat = 0;                 // [m] contact distance
};

/// side^3 boxes of 0.1 m, 12 cells^2 triangles each, 1.2 mm apart on average (d_hat: 1 mm) and slightly
/// rotated, without intersections. Each moves by up to a millimetre along every axis, so that some
/// would collide. Deterministic.
PackedSurface packed_boxes(int side, int cells);

}  // namespace stickslip
