// Convex polyhedra of points, on the host.
#pragma once

#include <string>
#include <vector>

#include "gpu/model/body.h"

namespace stickslip {

/// The convex hull of points [m], by quickhull [Barber96]; faces in one plane (up to 1e-6 of the points'
/// extent) become one polygon, and points that are no corners of it are left out. Throws
/// std::invalid_argument when a point is not finite or all lie in a plane, on a line or in a point.
ConvexHull convex_hull(const std::vector<Vec<double, 3>>& points);

/// The faces of a hull cut into triangles that face outward.
std::vector<Vec3i> triangles_of(const ConvexHull& hull);

/// Why `hull` is not a convex polyhedron with outward faces: too few vertices or faces, open, faces that are
/// not plane or not convex, a vertex beyond a face; empty if it is one.
std::string hull_fault(const ConvexHull& hull);

}  // namespace stickslip
