// What all mesh generators share: checks of their sizes, prisms, and the orientation of their tets.
#pragma once

#include "app/io/mesh/mesh.h"

namespace stickslip {

/// Throws std::invalid_argument naming `what` unless it is a positive length [m].
void check_length(const char* what, double value);
/// Throws std::invalid_argument for more than ten million elements, or more than this machine has memory for.
void check_count(double elements);
/// The number of elements along a length, before rounding.
double along(double length, double edge);
int cells(double length, double edge);
/// The prisms between layers of one triangulation, each cut into three tets; layer k has the nodes from k *
/// `nodes` on, and a closed stack ends at layer 0. The diagonals follow the order of the nodes, so
/// neighbouring prisms agree on them, also around a closed stack; of an open one all corners ascend.
std::vector<Vec4i> cut_prisms(const std::vector<Vec3i>& triangles, int nodes, int layers, bool closed);
/// Every tet turned so that its volume is positive.
TetMesh oriented(TetMesh mesh);

}  // namespace stickslip
