// Piles of cubes by the thousand: what the memory of a scene is measured on.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

/// Of each cube of the stacks: fine enough for 0.24 nodes and 0.25 surface triangles a tet.
inline constexpr int kStackCubeTets = 3072;
inline constexpr int kStackCubeNodes = 729;
inline constexpr int kStackCubePairs = 4184;  // of adjacent nodes

/// `columns` stacks of two cubes of 0.1 m each. The two of the first `touching` columns are half a d_hat [m]
/// apart, those of the others ten. Finalized.
Model cube_stacks(int columns, int touching, double d_hat);

}  // namespace stickslip
