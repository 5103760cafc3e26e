// Checks that tets from a file form a solid, and finds the faulty ones.
#pragma once

#include <string>

#include "app/io/mesh/msh.h"

namespace stickslip {

/// The solid in a file: its tets oriented to positive volume, without unused nodes (a warning on stderr gives
/// their number). Throws InputError with the first faulty element: no tet at all, a degenerate tet, some but
/// not all tets inverted, two tets equal or overlapping, or three sharing a face.
TetMesh checked_solid(MshContent content, const std::string& name);

/// Removes the nodes that no element uses and returns their indices.
std::vector<std::int32_t> drop_unused(TetMesh& mesh);
std::vector<std::int32_t> drop_unused(SurfaceMesh& mesh);

/// Merges equal positions into one node and drops triangles that collapse.
SurfaceMesh weld(const SurfaceMesh& mesh);

/// Volume of a tet [m^3], negative when it is inverted.
double signed_volume(const std::vector<Vec<double, 3>>& nodes, const Vec4i& tet);

}  // namespace stickslip
