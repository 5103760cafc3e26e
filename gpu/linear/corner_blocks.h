// How the lower triangle of a 4-corner stencil's 12x12 Hessian is stored: ten 3x3 blocks, row by row.
#pragma once

#include "gpu/core/backend.h"

namespace stickslip {

inline constexpr int kCornerBlocks = 10;
/// Those off the diagonal.
inline constexpr int kCouplings = 6;

/// Where block (row, column), row >= column, stands.
SS_HD constexpr int corner_block(int row, int column) { return row * (row + 1) / 2 + column; }

}  // namespace stickslip
