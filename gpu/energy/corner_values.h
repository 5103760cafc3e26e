// What one element hands to assembly: a vector per corner, and the lower 3x3 blocks of its Hessian by rows.
#pragma once

#include "gpu/math/mat.h"

namespace stickslip {

inline constexpr int kTetBlocks = 10;

/// Place of block (row, column), row >= column, among the lower blocks: (0,0), (1,0), (1,1), (2,0), ...
SS_HD constexpr int lower_block(int row, int column) { return row * (row + 1) / 2 + column; }

/// Corners that an element does not have hold zero.
struct CornerVectors {
  Vec3 v[4];
  SS_HD Vec3& operator[](int i) { return v[i]; }
  SS_HD const Vec3& operator[](int i) const { return v[i]; }
};

struct CornerBlocks {
  Mat3 b[kTetBlocks];
  SS_HD Mat3& operator()(int row, int column) { return b[lower_block(row, column)]; }
  SS_HD const Mat3& operator()(int row, int column) const { return b[lower_block(row, column)]; }
};

}  // namespace stickslip
