// Triangulates the polygons of surface files.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// Largest number of corners of a polygon: ear clipping takes quadratic time.
constexpr std::size_t kMostCorners = 4096;

/// Appends the triangles of a polygon of three or more corners, with its orientation, by ear clipping in its
/// best-fit plane. Corners index into `nodes`.
void triangulate(const std::vector<Vec<double, 3>>& nodes, std::span<const std::int32_t> polygon,
                 std::vector<Vec3i>& triangles);

}  // namespace stickslip
