// Signed distance fields of closed meshes, on the host.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/body.h"

namespace stickslip {

/// Why triangles are not a closed surface that faces outward: a bad index, a triangle without area, a side
/// that is not traversed by two triangles in opposite directions, a volume that is not positive; empty if
/// they are one.
std::string surface_fault(const std::vector<Vec<double, 3>>& nodes, const std::vector<Vec3i>& triangles);

/// A mesh with its distance on a grid of cubes, `cells` of them along its longest side and two more on each
/// side. A node's value is the exact distance to the nearest triangle; its sign is that of the
/// angle-weighted normal there [Baerentzen05]. Throws std::invalid_argument for a surface with a
/// fault and for cells outside [4, 512].
ShapeMesh mesh_with_distance(std::vector<Vec<double, 3>> nodes, std::vector<Vec3i> triangles, int cells);

}  // namespace stickslip
