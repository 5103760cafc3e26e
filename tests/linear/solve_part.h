// The reference of what inverts a part of a matrix.
#pragma once

#include <Eigen/Dense>

#include "tests/linear/systems.h"

namespace stickslip::test {

/// A^-1 r at these rows, which come in threes, of a matrix A without the couplings of contacts but with their
/// diagonal blocks: those of `with`, all else of `without`.
inline Eigen::VectorXd solve_part(const Eigen::MatrixXd& with, const Eigen::MatrixXd& without,
                                  const std::vector<int>& rows, const std::vector<Vec3>& r) {
  Eigen::MatrixXd a = without(rows, rows);
  Eigen::VectorXd b(static_cast<int>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i / 3 * 3; j < i / 3 * 3 + 3; ++j)
      a(static_cast<int>(i), static_cast<int>(j)) = with(rows[i], rows[j]);
    b[static_cast<int>(i)] = r[static_cast<std::size_t>(rows[i] / 3)][rows[i] % 3];
  }
  return a.llt().solve(b);
}

}  // namespace stickslip::test
