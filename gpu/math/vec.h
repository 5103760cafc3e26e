// Fixed-size vectors and matrices for host and device: plain aggregates, row-major, no alignment surprises.
#pragma once

#include <cmath>

#include "gpu/core/backend.h"

namespace stickslip {

template <class T, int N>
struct Vec {
  T v[N];
  SS_HD constexpr T& operator[](int i) { return v[i]; }
  SS_HD constexpr const T& operator[](int i) const { return v[i]; }

  SS_HD static constexpr Vec zero() { return filled(T(0)); }
  SS_HD static constexpr Vec filled(T value) {
    Vec r{};
    for (int i = 0; i < N; ++i) r.v[i] = value;
    return r;
  }
  template <class U>
  SS_HD constexpr Vec<U, N> cast() const {
    Vec<U, N> r{};
    for (int i = 0; i < N; ++i) r.v[i] = static_cast<U>(v[i]);
    return r;
  }

  SS_HD constexpr Vec& operator+=(const Vec& b) {
    for (int i = 0; i < N; ++i) v[i] += b.v[i];
    return *this;
  }
  SS_HD constexpr Vec& operator-=(const Vec& b) {
    for (int i = 0; i < N; ++i) v[i] -= b.v[i];
    return *this;
  }
  SS_HD constexpr Vec& operator*=(T s) {
    for (int i = 0; i < N; ++i) v[i] *= s;
    return *this;
  }
  // No operand is copied: GCC copies by moves of 16 bytes (see -mmove-max in StickslipBuild.cmake), and a
  // load of wider lanes from such a copy has to wait for all of them.
  SS_HD friend constexpr Vec operator+(const Vec& a, const Vec& b) {
    Vec r;
    for (int i = 0; i < N; ++i) r.v[i] = a.v[i] + b.v[i];
    return r;
  }
  SS_HD friend constexpr Vec operator-(const Vec& a, const Vec& b) {
    Vec r;
    for (int i = 0; i < N; ++i) r.v[i] = a.v[i] - b.v[i];
    return r;
  }
  SS_HD friend constexpr Vec operator-(const Vec& a) { return a * T(-1); }
  SS_HD friend constexpr Vec operator*(const Vec& a, T s) {
    Vec r;
    for (int i = 0; i < N; ++i) r.v[i] = a.v[i] * s;
    return r;
  }
  SS_HD friend constexpr Vec operator*(T s, const Vec& a) { return a * s; }
  SS_HD friend constexpr Vec operator/(const Vec& a, T s) { return a * (T(1) / s); }
  SS_HD friend constexpr bool operator==(const Vec& a, const Vec& b) {
    for (int i = 0; i < N; ++i)
      if (a.v[i] != b.v[i]) return false;
    return true;
  }
};

template <class T, int N>
SS_HD constexpr T dot(const Vec<T, N>& a, const Vec<T, N>& b) {
  T s = a[0] * b[0];
  for (int i = 1; i < N; ++i) s += a[i] * b[i];
  return s;
}
template <class T, int N>
SS_HD constexpr T norm2(const Vec<T, N>& a) {
  return dot(a, a);
}
template <class T, int N>
SS_HD inline T norm(const Vec<T, N>& a) {
  return std::sqrt(norm2(a));
}
/// a/|a|, or zero when a is zero.
template <class T, int N>
SS_HD inline Vec<T, N> normalized(const Vec<T, N>& a) {
  const T length = norm(a);
  return length > T(0) ? a / length : Vec<T, N>::zero();
}
template <class T>
SS_HD constexpr Vec<T, 3> cross(const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class T, int N>
SS_HD constexpr Vec<T, N> min(const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> r{};
  for (int i = 0; i < N; ++i) r[i] = a[i] < b[i] ? a[i] : b[i];
  return r;
}
template <class T, int N>
SS_HD constexpr Vec<T, N> max(const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> r{};
  for (int i = 0; i < N; ++i) r[i] = a[i] > b[i] ? a[i] : b[i];
  return r;
}

using Vec2 = Vec<Real, 2>;
using Vec3 = Vec<Real, 3>;
using Vec2i = Vec<std::int32_t, 2>;
using Vec3i = Vec<std::int32_t, 3>;
using Vec4i = Vec<std::int32_t, 4>;
using Vec3f = Vec<float, 3>;

}  // namespace stickslip
