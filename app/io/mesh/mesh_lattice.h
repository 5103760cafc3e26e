// The lattice in which a surface is embedded, see gpu/model/lattice.h.
#pragma once

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Cubic cells of edge `cell` [m], five tets each, that cover a surface's bounding box about its middle: a
/// box whose sizes are multiples of the cell is filled as by make_box. Throws std::invalid_argument for more
/// than 10 million tets.
TetMesh cover_with_cells(const SurfaceMesh& surface, double cell);

}  // namespace stickslip
