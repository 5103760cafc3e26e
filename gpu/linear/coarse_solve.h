// Solves with the factors of a CoarseMatrix: host + device, no launches.
#pragma once

#include <cstdint>

#include "gpu/math/mat.h"

namespace stickslip {

/// A velocity field y_0 + sum_k d_k y_(k+1), where d is the position relative to a centre: twelve numbers.
using AffineMotion = Vec<Real, 12>;
using CoarseBlock = Mat<Real, 12>;

#if !STICKSLIP_ON_CUDA
/// Four numbers of a motion, or of a row of a block.
using Quad = Real __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real)), may_alias));
inline constexpr int kQuads = 3;

inline Quad& quad(AffineMotion& y, int q) { return *reinterpret_cast<Quad*>(&y[0] + 4 * q); }
inline const Quad& quad(const AffineMotion& y, int q) {
  return *reinterpret_cast<const Quad*>(&y[0] + 4 * q);
}
inline Quad& quad(CoarseBlock& b, int row, int q) { return *reinterpret_cast<Quad*>(b.m + 12 * row + 4 * q); }
inline const Quad& quad(const CoarseBlock& b, int row, int q) {
  return *reinterpret_cast<const Quad*>(b.m + 12 * row + 4 * q);
}
#endif

/// A = U' D U in the order of elimination: row k of U is the identity and the blocks [row[k], row[k + 1]) in
/// the columns `column`, and inverse[k] is the inverse of D_k.
struct CoarseFactors {
  std::int32_t groups;
  const std::int32_t *group, *row, *column;  // the group at each place; per place and one more; per block
  const CoarseBlock *block, *inverse;

  /// Replaces the right side y, one motion for each group, by the solution.
  SS_HD void solve(AffineMotion* y) const {
    for (std::int32_t k = 0; k < groups; ++k)
      for (std::int32_t e = row[k]; e < row[k + 1]; ++e)
        subtract_transposed(block[e], y[group[k]], y[group[column[e]]]);
    for (std::int32_t k = groups - 1; k >= 0; --k) {
      RowSums sums;
      sums.add(inverse[k], y[group[k]]);
      for (std::int32_t e = row[k]; e < row[k + 1]; ++e) sums.subtract(block[e], y[group[column[e]]]);
      y[group[k]] = sums.total();
    }
  }

 private:
#if STICKSLIP_ON_CUDA
  struct RowSums {
    AffineMotion sum = AffineMotion::zero();
    SS_HD void add(const CoarseBlock& b, const AffineMotion& x) { sum += b * x; }
    SS_HD void subtract(const CoarseBlock& b, const AffineMotion& x) { sum -= b * x; }
    SS_HD const AffineMotion& total() const { return sum; }
  };
  /// y -= b' x.
  SS_HD static void subtract_transposed(const CoarseBlock& b, const AffineMotion& x, AffineMotion& y) {
    for (int m = 0; m < 12; ++m)
      for (int c = 0; c < 12; ++c) y[c] -= x[m] * b(m, c);
  }
#else
  /// Four partial sums for each row; `total` adds them up.
  struct RowSums {
    Quad part[12]{};
    void add(const CoarseBlock& b, const AffineMotion& x) {
      for (int r = 0; r < 12; ++r)
        for (int q = 0; q < kQuads; ++q) part[r] += quad(b, r, q) * quad(x, q);
    }
    void subtract(const CoarseBlock& b, const AffineMotion& x) {
      for (int r = 0; r < 12; ++r)
        for (int q = 0; q < kQuads; ++q) part[r] -= quad(b, r, q) * quad(x, q);
    }
    AffineMotion total() const {
      AffineMotion y{};
      for (int r = 0; r < 12; ++r) y[r] = part[r][0] + part[r][1] + (part[r][2] + part[r][3]);
      return y;
    }
  };
  static void subtract_transposed(const CoarseBlock& b, const AffineMotion& x, AffineMotion& y) {
    Quad sum[kQuads];
    for (int q = 0; q < kQuads; ++q) sum[q] = quad(y, q);
    for (int m = 0; m < 12; ++m)
      for (int q = 0; q < kQuads; ++q) sum[q] -= x[m] * quad(b, m, q);
    for (int q = 0; q < kQuads; ++q) quad(y, q) = sum[q];
  }
#endif
};

}  // namespace stickslip
