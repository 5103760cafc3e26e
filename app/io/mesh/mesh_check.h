// Whether tets from a file make a solid, and which of them do not.
#pragma once

#include <string>

#include "app/io/mesh/msh.h"

namespace stickslip {

/// The solid in a file: its tets turned to positive volume, without the nodes that no tet uses (a warning on
/// stderr says how many). Throws InputError naming the first element at fault when there is no tet, one is
/// degenerate, some but not all are inverted, two are the same or overlap, or three share a face.
TetMesh checked_solid(MshContent content, const std::string& name);

/// Leaves out the nodes that no element uses and returns their indices.
std::vector<std::int32_t> drop_unused(TetMesh& mesh);
std::vector<std::int32_t> drop_unused(SurfaceMesh& mesh);

/// Equal positions become one node; triangles that thereby collapse are left out.
SurfaceMesh weld(const SurfaceMesh& mesh);

/// Volume of a tet [m^3], negative when it is inverted.
double signed_volume(const std::vector<Vec<double, 3>>& nodes, const Vec4i& tet);

}  // namespace stickslip
