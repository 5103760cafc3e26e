// Eigenvalues and eigenvectors of small symmetric matrices: Householder tridiagonalisation and implicit QR
// with Wilkinson's shift [Golub & Van Loan, Matrix Computations, §8.3]. All loops that do the work have
// constant bounds.
#pragma once

#include <limits>

#include "gpu/math/mat.h"

namespace stickslip {

/// a = vectors diag(values) vectors', the values ascending, the vectors in columns.
template <class T, int N>
struct SymmetricEigen {
  Vec<T, N> values;
  Mat<T, N> vectors;
};

namespace eigen_detail {

/// a = rows' tridiagonal(d, e) rows.
template <class T, int N>
struct Tridiagonal {
  Vec<T, N> d, e;  // e[N-1] is not used
  Mat<T, N> rows;
};

/// Rows k and k+1 become c row_k + s row_k+1 and c row_k+1 - s row_k.
template <class T, int N>
SS_HD constexpr void rotate_rows(Mat<T, N>& rows, int k, T c, T s) {
  T* upper = rows.m + N * k;
  T* lower = upper + N;
  for (int j = 0; j < N; ++j) {
    const T x = upper[j], y = lower[j];
    upper[j] = c * x + s * y;
    lower[j] = c * y - s * x;
  }
}

/// The largest entry of `a`, which is overwritten, is of the order of 1.
template <class T, int N>
SS_HD inline void tridiagonalize(Mat<T, N>& a, Tridiagonal<T, N>& t) {
  t.d = t.e = Vec<T, N>::zero();
  t.rows = Mat<T, N>::identity();
  for (int k = 0; k + 2 < N; ++k) {
    // I - beta v v' maps column k below the diagonal to `alpha` at k+1. v is zero up to k, so full-length
    // loops are right.
    Vec<T, N> v = a.row(k);
    for (int i = 0; i <= k; ++i) v[i] = T(0);
    const T head = v[k + 1];
    v[k + 1] = T(0);
    const T tail2 = norm2(v);
    t.d[k] = a(k, k);
    if (!(tail2 > std::numeric_limits<T>::min())) {
      t.e[k] = head;
      continue;
    }
    const T length = std::sqrt(head * head + tail2), alpha = head > T(0) ? -length : length;
    t.e[k] = alpha;
    v[k + 1] = head - alpha;
    const T beta = T(1) / (length * (length + std::abs(head)));
    // H a H = a - v w' - w v' with w = p - (beta/2)(p.v) v, p = beta a v.
    Vec<T, N> w = beta * (a * v);
    w -= (T(0.5) * beta * dot(w, v)) * v;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) a(i, j) -= v[i] * w[j] + w[i] * v[j];
    const Vec<T, N> projection = beta * transposed_times(t.rows, v);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) t.rows(i, j) -= v[i] * projection[j];
  }
  if constexpr (N > 1) {
    t.d[N - 2] = a(N - 2, N - 2);
    t.e[N - 2] = a(N - 2, N - 1);
  }
  t.d[N - 1] = a(N - 1, N - 1);
}

/// One shifted QR sweep over the unreduced block [low, high].
template <class T, int N>
SS_HD inline void qr_sweep(Tridiagonal<T, N>& t, int low, int high) {
  const T half = T(0.5) * (t.d[high - 1] - t.d[high]), e2 = t.e[high - 1] * t.e[high - 1];
  const T root = std::sqrt(half * half + e2);
  const T shift = t.d[high] - e2 / (half + (half < T(0) ? -root : root));
  T x = t.d[low] - shift, bulge = t.e[low];
  for (int k = low; k < high; ++k) {
    const T r = std::sqrt(x * x + bulge * bulge);
    const T inverse = r > T(0) ? T(1) / r : T(0), c = r > T(0) ? x * inverse : T(1), s = bulge * inverse;
    // Below `low` the entry is negligible.
    if (k > 0) t.e[k - 1] = k > low ? r : T(0);
    const T dk = t.d[k], dn = t.d[k + 1], cross_term = T(2) * c * s * t.e[k];
    t.d[k] = c * c * dk + s * s * dn + cross_term;
    t.d[k + 1] = s * s * dk + c * c * dn - cross_term;
    t.e[k] = c * s * (dn - dk) + (c * c - s * s) * t.e[k];
    rotate_rows(t.rows, k, c, s);
    x = t.e[k];
    if (k + 1 < high) {
      bulge = s * t.e[k + 1];
      t.e[k + 1] *= c;
    }
  }
}

/// Diagonal form of a = scale rows' diag(d) rows, the values in no order. A matrix that is not finite yields
/// garbage, in finite time.
template <class T, int N>
SS_HD inline void diagonalize(const Mat<T, N>& a, T& scale, Tridiagonal<T, N>& t) {
  scale = T(0);
  for (int i = 0; i < N * N; ++i) scale = std::abs(a.m[i]) > scale ? std::abs(a.m[i]) : scale;
  if (!(scale > std::numeric_limits<T>::min())) {
    t.d = t.e = Vec<T, N>::zero();
    t.rows = Mat<T, N>::identity();
    return;
  }
  Mat<T, N> scaled = (T(1) / scale) * a;
  tridiagonalize(scaled, t);
  constexpr T negligible = std::numeric_limits<T>::epsilon() / 2;
  int high = N - 1;
  for (int sweeps = 0; high > 0 && sweeps < 30 * N; ++sweeps) {
    while (high > 0 && !(std::abs(t.e[high - 1]) > negligible)) --high;
    int low = high - 1;
    while (low > 0 && std::abs(t.e[low - 1]) > negligible) --low;
    if (high > 0) qr_sweep(t, low, high);
  }
}

}  // namespace eigen_detail

/// Errors are of the order of machine epsilon times the largest entry, whatever its scale.
template <class T, int N>
SS_HD inline SymmetricEigen<T, N> symmetric_eigen(const Mat<T, N>& a) {
  T scale = T(0);
  eigen_detail::Tridiagonal<T, N> t;
  eigen_detail::diagonalize(a, scale, t);
  int order[N];
  for (int i = 0; i < N; ++i) {
    int at = i;
    for (; at > 0 && t.d[order[at - 1]] > t.d[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  SymmetricEigen<T, N> result{};
  for (int c = 0; c < N; ++c) {
    result.values[c] = scale * t.d[order[c]];
    for (int r = 0; r < N; ++r) result.vectors(r, c) = t.rows(order[c], r);
  }
  return result;
}

}  // namespace stickslip
