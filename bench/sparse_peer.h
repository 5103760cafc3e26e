// The peer of SplitMatrix: Eigen's row-major sparse product, where the library is installed.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/math/mat.h"

namespace stickslip {

/// A square matrix of 3x3 blocks by rows, with both halves of a symmetric one.
struct BlockCsr {
  std::vector<std::int32_t> begin;   // per row and one more
  std::vector<std::int32_t> column;  // ascending within a row
  std::vector<Mat3> block;
};

/// True if this build has Eigen; without it the function below returns 0.
bool eigen_present();

/// Seconds of y = A x on `threads` threads, the shortest of `repetitions`, with A as
/// Eigen::SparseMatrix<Real, RowMajor, int>: one number and one index per entry of every block. Three entries
/// of x and y per row of blocks.
double eigen_product_seconds(const BlockCsr& matrix, const Vec3* x, Vec3* y, int threads, int repetitions);

}  // namespace stickslip
