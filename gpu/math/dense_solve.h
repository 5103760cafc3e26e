// Small dense linear systems by Gaussian elimination with partial pivoting.
#pragma once

#include "gpu/math/mat.h"

namespace stickslip {

/// x with a x = b for M right-hand sides. A pivot that is zero makes its unknown zero.
template <class T, int N, int M>
SS_HD inline Mat<T, N, M> solve_dense(Mat<T, N> a, Mat<T, N, M> b) {
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int i = k + 1; i < N; ++i)
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    for (int j = 0; j < N; ++j) {
      const T swapped = a(k, j);
      a(k, j) = a(pivot, j);
      a(pivot, j) = swapped;
    }
    for (int j = 0; j < M; ++j) {
      const T swapped = b(k, j);
      b(k, j) = b(pivot, j);
      b(pivot, j) = swapped;
    }
    const T inverse = a(k, k) != T(0) ? T(1) / a(k, k) : T(0);
    for (int i = k + 1; i < N; ++i) {
      const T factor = a(i, k) * inverse;
      for (int j = k; j < N; ++j) a(i, j) -= factor * a(k, j);
      for (int j = 0; j < M; ++j) b(i, j) -= factor * b(k, j);
    }
  }
  for (int k = N - 1; k >= 0; --k)
    for (int j = 0; j < M; ++j) {
      T sum = b(k, j);
      for (int i = k + 1; i < N; ++i) sum -= a(k, i) * b(i, j);
      b(k, j) = a(k, k) != T(0) ? sum / a(k, k) : T(0);
    }
  return b;
}

template <class T, int N>
SS_HD inline Vec<T, N> solve_dense(const Mat<T, N>& a, const Vec<T, N>& b) {
  return solve_dense(a, Mat<T, N, 1>::from_columns({b})).column(0);
}

}  // namespace stickslip
