// Singular values of a 3x3 matrix with rotations on both sides, by one-sided Jacobi rotations.
#pragma once

#include <limits>

#include "gpu/math/mat.h"

namespace stickslip {

/// f = u diag(s) v', u and v rotations, s[0] >= s[1] >= |s[2]|; the smallest carries the sign of det f.
template <class T>
struct Svd3 {
  Mat<T, 3> u, v;
  Vec<T, 3> s;
};

namespace svd_detail {

/// A unit vector at a right angle to the unit vector n.
template <class T>
SS_HD inline Vec<T, 3> any_perpendicular(const Vec<T, 3>& n) {
  int least = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(n[i]) < std::abs(n[least])) least = i;
  Vec<T, 3> axis = Vec<T, 3>::zero();
  axis[least] = T(1);
  return normalized(cross(n, axis));
}

/// Turns the columns b_i and b_j (and v_i, v_j) in their plane until they are orthogonal and |b_i| >= |b_j|.
/// False if they were orthogonal already.
template <class T>
SS_HD inline bool orthogonalize(Vec<T, 3>& bi, Vec<T, 3>& bj, Vec<T, 3>& vi, Vec<T, 3>& vj) {
  if (norm2(bi) < norm2(bj)) {
    const Vec<T, 3> b = bi, v = vi;
    bi = bj;
    vi = vj;
    bj = -b;
    vj = -v;
  }
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  const T a = norm2(bi), c = norm2(bj), b = dot(bi, bj);
  if (!(b * b > epsilon * epsilon * a * c)) return false;
  // tan of the turn: t = 2b / (a - c + sqrt((a - c)^2 + 4 b^2)), at most 1.
  const T difference = a - c;
  const T t = T(2) * b / (difference + std::sqrt(difference * difference + T(4) * b * b));
  const T cosine = T(1) / std::sqrt(T(1) + t * t), sine = t * cosine;
  const auto turn = [=](Vec<T, 3>& x, Vec<T, 3>& y) {
    const Vec<T, 3> old = x;
    x = cosine * x + sine * y;
    y = cosine * y - sine * old;
  };
  turn(bi, bj);
  turn(vi, vj);
  return true;
}

}  // namespace svd_detail

/// Any finite f: inverted, degenerate or zero.
template <class T>
SS_HD inline Svd3<T> svd3(const Mat<T, 3>& f) {
  using svd_detail::orthogonalize;
  T scale = T(0);
  for (int i = 0; i < 9; ++i) scale = std::abs(f.m[i]) > scale ? std::abs(f.m[i]) : scale;
  if (!(scale > std::numeric_limits<T>::min()))
    return {Mat<T, 3>::identity(), Mat<T, 3>::identity(), Vec<T, 3>::zero()};

  // f v = b with orthogonal columns, the longest first.
  const Mat<T, 3> scaled = (T(1) / scale) * f;
  Vec<T, 3> b[3] = {scaled.column(0), scaled.column(1), scaled.column(2)};
  Vec<T, 3> v[3] = {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  bool turned = true;
  for (int sweep = 0; turned && sweep < 16; ++sweep) {
    turned = orthogonalize(b[0], b[1], v[0], v[1]);
    turned |= orthogonalize(b[0], b[2], v[0], v[2]);
    turned |= orthogonalize(b[1], b[2], v[1], v[2]);
  }

  // A short second column is orthogonal to the first only up to rounding of the first.
  const T s0 = norm(b[0]);
  const Vec<T, 3> u0 = b[0] / s0;
  const Vec<T, 3> across = b[1] - dot(b[1], u0) * u0;
  const T length1 = norm(across), s1 = length1 < s0 ? length1 : s0;
  const Vec<T, 3> u1 = s1 > std::numeric_limits<T>::epsilon() * s0 ? normalized(across - dot(across, u0) * u0)
                                                                   : svd_detail::any_perpendicular(u0);
  const Vec<T, 3> u2 = cross(u0, u1);
  const T s2 = dot(b[2], u2), s2_bounded = s2 > s1 ? s1 : (s2 < -s1 ? -s1 : s2);
  return {Mat<T, 3>::from_columns({u0, u1, u2}),
          Mat<T, 3>::from_columns({v[0], v[1], v[2]}),
          {scale * s0, scale * s1, scale * s2_bounded}};
}

}  // namespace stickslip
