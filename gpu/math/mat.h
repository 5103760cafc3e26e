// Fixed-size dense matrices, row-major: m(row, col).
#pragma once

#include "gpu/math/vec.h"

namespace stickslip {

template <class T, int R, int C = R>
struct Mat {
  T m[R * C];
  SS_HD constexpr T& operator()(int r, int c) { return m[r * C + c]; }
  SS_HD constexpr const T& operator()(int r, int c) const { return m[r * C + c]; }

  SS_HD static constexpr Mat zero() {
    Mat a{};
    for (int i = 0; i < R * C; ++i) a.m[i] = T(0);
    return a;
  }
  SS_HD static constexpr Mat identity() {
    Mat a = zero();
    for (int i = 0; i < (R < C ? R : C); ++i) a(i, i) = T(1);
    return a;
  }
  SS_HD static constexpr Mat from_columns(const Vec<T, R> (&columns)[C]) {
    Mat a{};
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) a(r, c) = columns[c][r];
    return a;
  }
  SS_HD constexpr Vec<T, R> column(int c) const {
    Vec<T, R> a{};
    for (int r = 0; r < R; ++r) a[r] = (*this)(r, c);
    return a;
  }
  SS_HD constexpr Vec<T, C> row(int r) const {
    Vec<T, C> a{};
    for (int c = 0; c < C; ++c) a[c] = (*this)(r, c);
    return a;
  }
  SS_HD constexpr Mat<T, C, R> transposed() const {
    Mat<T, C, R> a{};
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) a(c, r) = (*this)(r, c);
    return a;
  }

  SS_HD constexpr Mat& operator+=(const Mat& b) {
    for (int i = 0; i < R * C; ++i) m[i] += b.m[i];
    return *this;
  }
  SS_HD constexpr Mat& operator-=(const Mat& b) {
    for (int i = 0; i < R * C; ++i) m[i] -= b.m[i];
    return *this;
  }
  SS_HD constexpr Mat& operator*=(T s) {
    for (int i = 0; i < R * C; ++i) m[i] *= s;
    return *this;
  }
  SS_HD friend constexpr Mat operator+(const Mat& a, const Mat& b) {
    Mat r;
    for (int i = 0; i < R * C; ++i) r.m[i] = a.m[i] + b.m[i];
    return r;
  }
  SS_HD friend constexpr Mat operator-(const Mat& a, const Mat& b) {
    Mat r;
    for (int i = 0; i < R * C; ++i) r.m[i] = a.m[i] - b.m[i];
    return r;
  }
  SS_HD friend constexpr Mat operator*(const Mat& a, T s) {
    Mat r;
    for (int i = 0; i < R * C; ++i) r.m[i] = a.m[i] * s;
    return r;
  }
  SS_HD friend constexpr Mat operator*(T s, const Mat& a) { return a * s; }
};

template <class T, int R, int K, int C>
SS_HD constexpr Mat<T, R, C> operator*(const Mat<T, R, K>& a, const Mat<T, K, C>& b) {
  Mat<T, R, C> c = Mat<T, R, C>::zero();
  for (int i = 0; i < R; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < C; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
template <class T, int R, int C>
SS_HD constexpr Vec<T, R> operator*(const Mat<T, R, C>& a, const Vec<T, C>& x) {
  Vec<T, R> y = Vec<T, R>::zero();
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) y[i] += a(i, j) * x[j];
  return y;
}
/// a' x without forming the transpose.
template <class T, int R, int C>
SS_HD constexpr Vec<T, C> transposed_times(const Mat<T, R, C>& a, const Vec<T, R>& x) {
  Vec<T, C> y = Vec<T, C>::zero();
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) y[j] += a(i, j) * x[i];
  return y;
}
template <class T, int R, int C>
SS_HD constexpr Mat<T, R, C> outer(const Vec<T, R>& a, const Vec<T, C>& b) {
  Mat<T, R, C> m{};
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) m(i, j) = a[i] * b[j];
  return m;
}
template <class T, int R>
SS_HD constexpr T trace(const Mat<T, R>& a) {
  T s = T(0);
  for (int i = 0; i < R; ++i) s += a(i, i);
  return s;
}
/// Frobenius inner product.
template <class T, int R, int C>
SS_HD constexpr T dot(const Mat<T, R, C>& a, const Mat<T, R, C>& b) {
  T s = T(0);
  for (int i = 0; i < R * C; ++i) s += a.m[i] * b.m[i];
  return s;
}
template <class T>
SS_HD constexpr T determinant(const Mat<T, 3>& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) -
         a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}
/// Inverse by cofactors. The caller makes sure that the determinant is not zero.
template <class T>
SS_HD constexpr Mat<T, 3> inverse(const Mat<T, 3>& a) {
  const T s = T(1) / determinant(a);
  Mat<T, 3> r{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int i1 = (j + 1) % 3, i2 = (j + 2) % 3, j1 = (i + 1) % 3, j2 = (i + 2) % 3;
      r(i, j) = (a(i1, j1) * a(i2, j2) - a(i1, j2) * a(i2, j1)) * s;
    }
  return r;
}

using Mat3 = Mat<Real, 3>;

}  // namespace stickslip
