// What one element hands to assembly: a vector per corner, and the lower 3x3 blocks of its Hessian by rows.
#pragma once

#include "gpu/math/corner_blocks.h"
#include "gpu/math/mat.h"

namespace stickslip {

/// Corners that an element does not have hold zero.
struct CornerVectors {
  Vec3 v[4];
  SS_HD Vec3& operator[](int i) { return v[i]; }
  SS_HD const Vec3& operator[](int i) const { return v[i]; }
};

template <class T>
struct CornerBlocksOf {
  Mat<T, 3> b[kCornerBlocks];
  SS_HD Mat<T, 3>& operator()(int row, int column) { return b[corner_block(row, column)]; }
  SS_HD const Mat<T, 3>& operator()(int row, int column) const { return b[corner_block(row, column)]; }
};
using CornerBlocks = CornerBlocksOf<Real>;

}  // namespace stickslip
