// How the lower triangle of a Hessian over corners is stored: 3x3 blocks, row by row: (0,0), (1,0), (1,1),
// (2,0), ...
#pragma once

#include "gpu/core/backend.h"

namespace stickslip {

/// Those of four corners.
inline constexpr int kCornerBlocks = 10;
/// Those off the diagonal.
inline constexpr int kCouplings = 6;

/// Where block (row, column), row >= column, stands.
SS_HD constexpr int corner_block(int row, int column) { return row * (row + 1) / 2 + column; }

}  // namespace stickslip
