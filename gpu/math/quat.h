// Unit quaternions as rotations, and rigid poses.
#pragma once

#include "gpu/math/mat.h"

namespace stickslip {

template <class T>
struct QuatT {
  T w;
  Vec<T, 3> v;

  SS_HD static constexpr QuatT identity() { return {T(1), {T(0), T(0), T(0)}}; }
  SS_HD constexpr QuatT conjugate() const { return {w, -v}; }

  /// This rotation after b.
  SS_HD friend constexpr QuatT operator*(const QuatT& a, const QuatT& b) {
    return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
  }
  SS_HD constexpr Vec<T, 3> rotate(const Vec<T, 3>& x) const {
    const Vec<T, 3> t = T(2) * cross(v, x);
    return x + w * t + cross(v, t);
  }
  SS_HD constexpr Vec<T, 3> rotate_back(const Vec<T, 3>& x) const { return conjugate().rotate(x); }
  SS_HD constexpr Mat<T, 3> matrix() const {
    const T x = v[0], y = v[1], z = v[2];
    return {{T(1) - T(2) * (y * y + z * z), T(2) * (x * y - w * z), T(2) * (x * z + w * y),
             T(2) * (x * y + w * z), T(1) - T(2) * (x * x + z * z), T(2) * (y * z - w * x),
             T(2) * (x * z - w * y), T(2) * (y * z + w * x), T(1) - T(2) * (x * x + y * y)}};
  }
};

template <class T>
SS_HD inline QuatT<T> normalized(const QuatT<T>& q) {
  const T s = T(1) / std::sqrt(q.w * q.w + norm2(q.v));
  return {s * q.w, s * q.v};
}

/// The rotation by |a| radians about a.
template <class T>
SS_HD inline QuatT<T> rotation_by(const Vec<T, 3>& a) {
  const T half2 = T(0.25) * norm2(a), half = std::sqrt(half2);
  // sin(x) / x to rounding where x is small
  const T sinc = half < T(1e-4) ? T(1) - half2 / T(6) : std::sin(half) / half;
  return {std::cos(half), (T(0.5) * sinc) * a};
}

/// The rotation vector of a unit quaternion, of length at most pi: the inverse of `rotation_by`.
template <class T>
SS_HD inline Vec<T, 3> rotation_vector(const QuatT<T>& q) {
  const T sine = norm(q.v), sign = q.w < T(0) ? T(-1) : T(1);
  const T angle = T(2) * std::atan2(sine, sign * q.w);
  return sine > T(1e-12) ? (sign * angle / sine) * q.v : (T(2) * sign) * q.v;
}

/// A rotation matrix as a quaternion.
template <class T>
SS_HD inline QuatT<T> quaternion_of(const Mat<T, 3>& r) {
  // The largest of |w|, |x|, |y|, |z| is found from the diagonal, the others by division through it.
  const T t = trace(r);
  if (t > T(0)) {
    const T s = std::sqrt(t + T(1)) * T(2);
    return normalized(
        QuatT<T>{s / T(4), {(r(2, 1) - r(1, 2)) / s, (r(0, 2) - r(2, 0)) / s, (r(1, 0) - r(0, 1)) / s}});
  }
  const int i = r(0, 0) > r(1, 1) ? (r(0, 0) > r(2, 2) ? 0 : 2) : (r(1, 1) > r(2, 2) ? 1 : 2);
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const T s = std::sqrt(T(1) + r(i, i) - r(j, j) - r(k, k)) * T(2);
  QuatT<T> q{};
  q.w = (r(k, j) - r(j, k)) / s;
  q.v[i] = s / T(4);
  q.v[j] = (r(j, i) + r(i, j)) / s;
  q.v[k] = (r(k, i) + r(i, k)) / s;
  return normalized(q);
}

/// y = x + q p: from a body's frame to the world.
template <class T>
struct PoseT {
  Vec<T, 3> x;  // [m]
  QuatT<T> q;   // unit

  SS_HD static constexpr PoseT identity() { return {{T(0), T(0), T(0)}, QuatT<T>::identity()}; }
  SS_HD constexpr Vec<T, 3> apply(const Vec<T, 3>& p) const { return x + q.rotate(p); }
  SS_HD constexpr Vec<T, 3> apply_back(const Vec<T, 3>& y) const { return q.rotate_back(y - x); }
  SS_HD friend constexpr PoseT operator*(const PoseT& a, const PoseT& b) { return {a.apply(b.x), a.q * b.q}; }
};

using Quat = QuatT<double>;
using Pose = PoseT<double>;

}  // namespace stickslip
