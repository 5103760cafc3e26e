// Entries of a square matrix beside their mirror images. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/dfcp/problem/contact_problem.h"

namespace stickslip {

/// visit(row, column, lower, upper) for each pair M_(row, column) and M_(column, row), row > column, of which
/// at least one is stored; the other counts as zero. One pass: while rows i pass by, `next[j]` walks through
/// the entries of row j left of its diagonal.
template <class Visit>
void for_mirrored_pairs(const SparseRows& m, Visit visit) {
  std::vector<std::int32_t> next(m.offsets.begin(), m.offsets.end() - 1);
  for (std::int32_t i = 0; i < m.rows; ++i) {
    // Those left over in row i had no partner above the diagonal.
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

/// What |M_ij - M_ji| is measured against: sqrt(|M_ii M_jj|), and no less than a rounding error of the
/// largest entry.
class SymmetryScale {
 public:
  explicit SymmetryScale(const SparseRows& m);
  double operator()(std::int32_t i, std::int32_t j) const;

 private:
  std::vector<double> root_;  // sqrt(|M_ii|)
  double least_ = 0;
};

}  // namespace stickslip
