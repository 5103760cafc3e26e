// Symmetric positive (semi)definite matrices: projection, factorisation, solve, inverse.
#pragma once

#include "gpu/core/out_of_line.h"
#include "gpu/math/eigen.h"

namespace stickslip {

/// The factors of a = l diag(d) l', l unit lower triangular.
template <class T, int N>
struct Ldl {
  Mat<T, N> l;
  Vec<T, N> inverse_d;
  bool positive;  // all of d; when false the factors are not complete
};

/// Reads the lower triangle.
template <class T, int N>
SS_HD constexpr Ldl<T, N> factor_ldl(const Mat<T, N>& a) {
  Ldl<T, N> f{a, Vec<T, N>::zero(), true};
  for (int k = 0; k < N; ++k) {
    const T pivot = f.l(k, k);
    if (!(pivot > T(0))) return {f.l, f.inverse_d, false};
    f.inverse_d[k] = T(1) / pivot;
    for (int i = k + 1; i < N; ++i) {
      const T factor = f.l(i, k) * f.inverse_d[k];
      for (int j = k + 1; j <= i; ++j) f.l(i, j) -= factor * f.l(j, k);
    }
    for (int i = k + 1; i < N; ++i) f.l(i, k) *= f.inverse_d[k];
  }
  return f;
}

/// l diag(d) l' x = b.
template <class T, int N>
SS_HD constexpr Vec<T, N> solve(const Ldl<T, N>& f, Vec<T, N> b) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < i; ++j) b[i] -= f.l(i, j) * b[j];
  for (int i = N - 1; i >= 0; --i) {
    b[i] *= f.inverse_d[i];
    for (int j = i + 1; j < N; ++j) b[i] -= f.l(j, i) * b[j];
  }
  return b;
}

/// a^-1 b for a positive definite.
template <class T, int N>
SS_HD constexpr Vec<T, N> solve_spd(const Mat<T, N>& a, const Vec<T, N>& b) {
  return solve(factor_ldl(a), b);
}

/// a^-1 for a positive definite; symmetric to the last bit.
template <class T, int N>
SS_HD constexpr Mat<T, N> inverse_spd(const Mat<T, N>& a) {
  const Ldl<T, N> f = factor_ldl(a);
  Mat<T, N> inverse{};
  for (int c = 0; c < N; ++c) {
    Vec<T, N> unit = Vec<T, N>::zero();
    unit[c] = T(1);
    const Vec<T, N> x = solve(f, unit);
    for (int r = c; r < N; ++r) inverse(r, c) = inverse(c, r) = x[r];
  }
  return inverse;
}

namespace spd_detail {

template <class T, int N>
SS_HD_LARGE inline bool has_positive_factors(const Mat<T, N>& a) {
  return factor_ldl(a).positive;
}

/// Sets the negative eigenvalues to zero.
template <class T, int N>
SS_HD_LARGE inline void remove_negative(Mat<T, N>& a) {
  T scale = T(0);
  eigen_detail::Tridiagonal<T, N> t;
  eigen_detail::diagonalize(a, scale, t);
  int negative = 0;
  for (int k = 0; k < N; ++k) negative += t.d[k] < T(0);
  // Take away the negative part, or build the positive one, whichever has fewer terms.
  const bool take_away = 2 * negative <= N;
  if (!take_away) a = Mat<T, N>::zero();
  for (int k = 0; k < N; ++k) {
    if ((t.d[k] < T(0)) != take_away || t.d[k] == T(0)) continue;
    const Vec<T, N> v = std::sqrt(scale * std::abs(t.d[k])) * t.rows.row(k);
    a += outer(v, v);
  }
  // A compiler may fuse some of the multiply-adds and not others.
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < i; ++j) a(j, i) = a(i, j);
}

}  // namespace spd_detail

/// Replaces a symmetric matrix by the nearest positive semidefinite one: its negative eigenvalues become
/// zero. A matrix that factors with positive pivots stays as it is.
template <class T, int N>
SS_HD inline void project_spd(Mat<T, N>& a) {
  if (!spd_detail::has_positive_factors(a)) spd_detail::remove_negative(a);
}

}  // namespace stickslip
