// Helpers of all mesh generators: size checks, prisms, and the orientation of tets.
#pragma once

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Throws std::invalid_argument that gives `what` unless it is a positive length [m].
void check_length(const char* what, double value);
/// Throws std::invalid_argument for more than ten million elements, or more than fit into memory.
void check_count(double elements);
/// The number of elements along a length, before rounding.
double along(double length, double edge);
int cells(double length, double edge);
/// The prisms between layers of one triangulation, each cut into three tets. Layer k has the nodes from k *
/// `nodes` on; the last layer of a closed stack is joined to layer 0. The diagonals follow the node order, so
/// neighbouring prisms agree on them, also in a closed stack. In an open stack the corners of every tet
/// ascend.
std::vector<Vec4i> cut_prisms(const std::vector<Vec3i>& triangles, int nodes, int layers, bool closed);
/// Orients every tet to positive volume.
TetMesh oriented(TetMesh mesh);

}  // namespace stickslip
