// Distance fields that are fine only where they have to be, on the host.
#pragma once

#include "gpu/model/body.h"

namespace stickslip {

/// Root cells of an adaptive field are at most 2^kMostFieldLevels of the smallest cells wide.
inline constexpr std::int32_t kMostFieldLevels = 8;

/// Sets the tree and the distances of a mesh, whose grid has its place, spacing, nodes and levels: an octree
/// [Frisken00]. A cell is divided where its trilinear value is off by more than the tolerance [m] and a tenth
/// of the distance, at one of 125 points (27 where it is two cells wide). Corners of cells on a side of a
/// larger cell take its values there, so that the field is continuous: they are off by as much as the larger
/// cell may be. Throws std::invalid_argument when the cells become too many.
void fill_adaptive(ShapeMesh& mesh, double tolerance);

}  // namespace stickslip
