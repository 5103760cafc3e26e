// Singular values of a 3x3 matrix with rotations on both sides, by one-sided Jacobi rotations.
#pragma once

#include <limits>

#include "gpu/math/mat.h"
#include "gpu/math/pick.h"

namespace stickslip {

/// f = u diag(s) v', u and v rotations, s[0] >= s[1] >= |s[2]|; the smallest carries the sign of det f.
template <class T>
struct Svd3 {
  Mat<T, 3> u, v;
  Vec<T, 3> s;
};

namespace svd_detail {

template <class Mask, class T>
SS_HD inline Vec<T, 3> select(Mask where, const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {pick(where, a[0], b[0]), pick(where, a[1], b[1]), pick(where, a[2], b[2])};
}

/// a / |a|, or zero when a is zero.
template <class T>
SS_HD inline Vec<T, 3> unit(const Vec<T, 3>& a) {
  const T length = root(norm2(a));
  return pick(length > T(0), T(1) / length, T(0)) * a;
}

/// A unit vector at a right angle to the unit vector n.
template <class T>
SS_HD inline Vec<T, 3> any_perpendicular(const Vec<T, 3>& n) {
  T size[3];
  for (int i = 0; i < 3; ++i) size[i] = larger(n[i], -n[i]);
  const auto second = size[1] < size[0];
  const auto third = size[2] < pick(second, size[1], size[0]);
  const Vec<T, 3> x{T(1), T(0), T(0)}, y{T(0), T(1), T(0)}, z{T(0), T(0), T(1)};
  return unit(cross(n, select(third, z, select(second, y, x))));
}

/// Turns the columns b_i and b_j (and v_i, v_j) in their plane until they are orthogonal and |b_i| >= |b_j|.
/// False if they were orthogonal already.
template <class T>
SS_HD inline bool orthogonalize(Vec<T, 3>& bi, Vec<T, 3>& bj, Vec<T, 3>& vi, Vec<T, 3>& vj, T epsilon) {
  if (any_less(norm2(bi), norm2(bj))) {
    const auto shorter = norm2(bi) < norm2(bj);
    const Vec<T, 3> b = bi, v = vi;
    bi = select(shorter, bj, bi);
    vi = select(shorter, vj, vi);
    bj = select(shorter, -b, bj);
    vj = select(shorter, -v, vj);
  }
  const T a = norm2(bi), c = norm2(bj), b = dot(bi, bj);
  const T orthogonal = epsilon * epsilon * a * c;
  if (!any_less(orthogonal, b * b)) return false;
  const auto turned = orthogonal < b * b;
  // tan of the turn: t = 2b / (a - c + sqrt((a - c)^2 + 4 b^2)), at most 1.
  const T difference = a - c;
  const T t = T(2) * b / (difference + root(difference * difference + T(4) * b * b));
  const T cosine = T(1) / root(T(1) + t * t), sine = t * cosine;
  const auto turn = [=](Vec<T, 3>& x, Vec<T, 3>& y) {
    const Vec<T, 3> old = x;
    x = select(turned, cosine * x + sine * y, x);
    y = select(turned, cosine * y - sine * old, y);
  };
  turn(bi, bj);
  turn(vi, vj);
  return true;
}

}  // namespace svd_detail

/// Any finite f: inverted, degenerate or zero. `Number`: T, or what lanes of T consist of.
template <class T, class Number = T>
SS_HD inline Svd3<T> svd3(const Mat<T, 3>& f) {
  using svd_detail::orthogonalize, svd_detail::select;
  constexpr Number epsilon = std::numeric_limits<Number>::epsilon();
  T scale = T(0);
  for (int i = 0; i < 9; ++i) scale = larger(larger(f.m[i], -f.m[i]), scale);
  const Svd3<T> of_zero{Mat<T, 3>::identity(), Mat<T, 3>::identity(), Vec<T, 3>::zero()};
  const T least = T(std::numeric_limits<Number>::min());
  const auto usable = least < scale;
  if (!any_less(least, scale)) return of_zero;
  scale = pick(usable, scale, T(1));

  // f v = b with orthogonal columns, the longest first.
  const Mat<T, 3> scaled = (T(1) / scale) * f;
  Vec<T, 3> b[3] = {scaled.column(0), scaled.column(1), scaled.column(2)};
  Vec<T, 3> v[3] = {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  bool turned = true;
  for (int sweep = 0; turned && sweep < 16; ++sweep) {
    turned = orthogonalize(b[0], b[1], v[0], v[1], T(epsilon));
    turned |= orthogonalize(b[0], b[2], v[0], v[2], T(epsilon));
    turned |= orthogonalize(b[1], b[2], v[1], v[2], T(epsilon));
  }

  // A short second column is orthogonal to the first only up to rounding of the first.
  const T s0 = root(norm2(b[0]));
  const Vec<T, 3> u0 = b[0] / s0;
  const Vec<T, 3> across = b[1] - dot(b[1], u0) * u0;
  const T length1 = root(norm2(across)), s1 = pick(length1 < s0, length1, s0);
  Vec<T, 3> u1 = svd_detail::unit(across - dot(across, u0) * u0);
  if (const T short_one = T(epsilon) * s0; !all_less(short_one, s1))
    u1 = select(short_one < s1, u1, svd_detail::any_perpendicular(u0));
  const Vec<T, 3> u2 = cross(u0, u1);
  const T s2 = dot(b[2], u2), s2_bounded = pick(s1 < s2, s1, pick(s2 < -s1, -s1, s2));
  const Vec<T, 3> axis[3] = {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  return {Mat<T, 3>::from_columns(
              {select(usable, u0, axis[0]), select(usable, u1, axis[1]), select(usable, u2, axis[2])}),
          Mat<T, 3>::from_columns(
              {select(usable, v[0], axis[0]), select(usable, v[1], axis[1]), select(usable, v[2], axis[2])}),
          select(usable, Vec<T, 3>{scale * s0, scale * s1, scale * s2_bounded}, Vec<T, 3>::zero())};
}

}  // namespace stickslip
