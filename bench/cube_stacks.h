// Piles of thousands of cubes, for measuring the memory of a scene.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

/// Per cube: fine enough for 0.24 nodes and 0.25 surface triangles a tet.
inline constexpr int kStackCubeTets = 3072;
inline constexpr int kStackCubeNodes = 729;
inline constexpr int kStackCubePairs = 4184;  // of adjacent nodes

/// `columns` stacks of two cubes of 0.1 m each. The gap between the two is half of d_hat [m] in the first
/// `touching` columns, ten d_hat in the others. Finalized.
Model cube_stacks(int columns, int touching, double d_hat);

}  // namespace stickslip
