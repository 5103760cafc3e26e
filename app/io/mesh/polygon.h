// Polygons of surface files, cut into triangles.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// More corners than this make no polygon: cutting takes quadratic time.
constexpr std::size_t kMostCorners = 4096;

/// Appends the triangles of a polygon of three or more corners, in its sense, by cutting off ears in the
/// plane that fits it best. Corners index into `nodes`.
void triangulate(const std::vector<Vec<double, 3>>& nodes, std::span<const std::int32_t> polygon,
                 std::vector<Vec3i>& triangles);

}  // namespace stickslip
