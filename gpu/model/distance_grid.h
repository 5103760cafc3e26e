// Signed distance fields of closed meshes, on a regular grid or an octree, on the host.
#pragma once

#include <string>
#include <vector>

#include "gpu/geometry/shape.h"
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
///
/// With a tolerance [m] > 0 the field is an octree (adaptive_distance.h) with smallest cells of the grid's
/// size; its box is larger by less than its shortest side. Throws for a tolerance that is negative or not
/// finite.
ShapeMesh mesh_with_distance(std::vector<Vec<double, 3>> nodes, std::vector<Vec3i> triangles, int cells,
                             double tolerance = 0);

/// The field of a mesh, in the same memory.
DistanceGridView field_view(const ShapeMesh& mesh);

/// Why a field cannot be read: values that are missing or not finite, a tree that does not fit; empty if it
/// can.
std::string field_fault(const ShapeMesh& mesh);

}  // namespace stickslip
