// Pairs of mirrored entries of a square matrix. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// Calls visit(row, column, lower, upper) for each pair M_(row, column), M_(column, row), row > column, of
/// which at least one is stored; the other counts as zero. One pass: while row i is processed, `next[j]`
/// advances through the entries of row j left of its diagonal.
template <class Visit>
void for_mirrored_pairs(const SparseRows& m, Visit visit) {
  std::vector<std::int32_t> next(m.offsets.begin(), m.offsets.end() - 1);
  for (std::int32_t i = 0; i < m.rows; ++i) {
    // Remaining entries in row i have no partner above the diagonal.
    for (std::int32_t& k = next[i]; k < m.offsets[i + 1] && m.indices[k] < i; ++k)
      visit(i, m.indices[k], m.values[k], 0.0);
    for (std::int32_t k = next[i]; k < m.offsets[i + 1]; ++k) {
      const std::int32_t j = m.indices[k];
      if (j == i) continue;
      std::int32_t& other = next[j];
      for (; other < m.offsets[j + 1] && m.indices[other] < i; ++other)
        visit(j, m.indices[other], m.values[other], 0.0);
      const bool there = other < m.offsets[j + 1] && m.indices[other] == i;
      visit(j, i, there ? m.values[other++] : 0.0, m.values[k]);
    }
  }
}

/// The scale for |M_ij - M_ji|: sqrt(|M_ii M_jj|), but at least a rounding error of the largest entry.
class SymmetryScale {
 public:
  explicit SymmetryScale(const SparseRows& m);
  double operator()(std::int32_t i, std::int32_t j) const;

 private:
  std::vector<double> root_;  // sqrt(|M_ii|)
  double least_ = 0;
};

}  // namespace stickslip
