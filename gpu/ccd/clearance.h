// Tests without branches that show for most pairs that they are far apart, or stay apart: for a number T, or
// for several pairs in the lanes of T at once.
//
// Both sides of a pair lie apart along a unit direction m by at least min over a of m.x - max over b of m.x,
// whatever m is. Here m is the direction between the closest points, in arithmetic that need not be careful:
// an inexact direction makes a bound smaller, not wrong. Where points coincide m is not a number, and nothing
// is shown.
#pragma once

#include "gpu/ccd/additive.h"
#include "gpu/math/pick.h"

namespace stickslip::clearance {

template <class T>
SS_HD inline T smaller(T a, T b) {
  return pick(a < b, a, b);
}
template <class T>
SS_HD inline T clamped(T t) {
  return smaller(larger(t, T(0)), T(1));
}
template <class T>
SS_HD inline Vec<T, 3> shorter(const Vec<T, 3>& a, const Vec<T, 3>& b) {
  const auto first = norm2(a) < norm2(b);
  return {pick(first, a[0], b[0]), pick(first, a[1], b[1]), pick(first, a[2], b[2])};
}

/// In place of zero, as what a length is divided by.
constexpr double kTiny = 1e-30;

/// From the closest point of the segment to its origin, to the origin; `start`: from its first end to there.
template <class T>
SS_HD inline Vec<T, 3> from_segment(const Vec<T, 3>& start, const Vec<T, 3>& edge) {
  const T t = clamped(dot(start, edge) / larger(norm2(edge), T(kTiny)));
  return start - t * edge;
}

/// About the vector from the closest point of b to that of a.
template <class T, class X>
SS_HD inline Vec<T, 3> between(const EdgeEdge<X>*, const Vec<T, 3> (&y)[4]) {
  const Vec<T, 3> a = y[1] - y[0], b = y[3] - y[2], r = y[0] - y[2];
  const T aa = norm2(a), bb = norm2(b), ab = dot(a, b), ar = dot(a, r), br = dot(b, r);
  // The best s of a for the line of b, the best t of b for it, and then s again, since t may be at an end.
  const T first = clamped((ab * br - ar * bb) / larger(aa * bb - ab * ab, T(kTiny)));
  const T t = clamped((ab * first + br) / larger(bb, T(kTiny)));
  const T s = clamped((ab * t - ar) / larger(aa, T(kTiny)));
  return r + s * a - t * b;
}
template <class T, class X>
SS_HD inline Vec<T, 3> between(const PointTriangle<X>*, const Vec<T, 3> (&y)[4]) {
  const Vec<T, 3> e1 = y[2] - y[1], e2 = y[3] - y[1], c = y[0] - y[1];
  const Vec<T, 3> sides =
      shorter(shorter(from_segment(c, e1), from_segment(c, e2)), from_segment(y[0] - y[2], y[3] - y[2]));
  const Vec<T, 3> n = cross(e1, e2);
  const T n2 = norm2(n), u = dot(cross(c, e2), n), v = dot(cross(e1, c), n);
  const Vec<T, 3> face = (dot(c, n) / larger(n2, T(kTiny))) * n;
  const auto inside = (u > T(0)) & (v > T(0)) & (u + v < n2);
  return {pick(inside, face[0], sides[0]), pick(inside, face[1], sides[1]), pick(inside, face[2], sides[2])};
}

/// Of the corners y, along m: the least of a less the largest of b.
template <class Pair, class T>
SS_HD inline T gap_along(const Vec<T, 3>& m, const Vec<T, 3> (&y)[4]) {
  T a = dot(m, y[0]), b = dot(m, y[3]);
  for (int i = 1; i < Pair::kCornersOfA; ++i) a = smaller(a, dot(m, y[i]));
  for (int i = Pair::kCornersOfA; i < 3; ++i) b = larger(b, dot(m, y[i]));
  return a - b;
}

template <class T>
SS_HD inline T larger_size(const Vec<T, 3>& y, T so_far) {
  for (int k = 0; k < 3; ++k) so_far = larger(so_far, larger(y[k], -y[k]));
  return so_far;
}

/// 0, or not a number if a coordinate is none: choices may lose it.
template <class T>
SS_HD inline T nothing(const Vec<T, 3> (&y)[4]) {
  T sum = T(0);
  for (int i = 0; i < 4; ++i) sum += y[i][0] + y[i][1] + y[i][2];
  return T(0) * sum;
}

/// A lower bound of the distance, tight but for rounding; not a number for a pair that touches, or with a
/// coordinate that is none. The corners are relative to one of them.
template <class Pair, class T>
SS_HD inline T least_distance(const Vec<T, 3> (&y)[4]) {
  using Scalar = typename Pair::Scalar;
  const Vec<T, 3> r = between(static_cast<const Pair*>(nullptr), y);
  T reach = T(0);
  for (int i = 1; i < 4; ++i) reach = larger_size(y[i], reach);
  const T rounding = additive::gap_rounding(Scalar(1)) * reach + nothing(y);
  return gap_along<Pair>(r * (T(1) / root(norm2(r))), y) - rounding;
}

/// A moving pair, from corner 0: `end` = after the whole way. `origin`: how large the coordinates of corner 0
/// get.
template <class T>
struct Way {
  Vec<T, 3> start[4], end[4];
  T origin;
};

/// Where true, `additive::toi` would be t_max, the time of the whole way: both ends, and so all between, keep
/// the share `kept` of the gap along one direction.
template <class Pair, class T>
SS_HD inline auto keeps_clear(const Way<T>& way, T kept, T thickness) {
  using Scalar = typename Pair::Scalar;
  const Vec<T, 3> r = between(static_cast<const Pair*>(nullptr), way.start);
  const T distance = root(norm2(r));
  const Vec<T, 3> m = r * (T(1) / distance);
  T reach = T(0);
  for (int i = 1; i < 4; ++i)
    for (int k = 0; k < 3; ++k) {
      const T x = way.start[i][k], p = way.end[i][k] - x;
      reach = larger(reach, larger(x, -x) + larger(p, -p));
    }
  const T rounding =
      additive::gap_rounding(Scalar(1)) * reach + storage_rounding(Scalar(1)) * (way.origin + reach);
  const T floor = thickness + kept * larger(distance - thickness, T(0)) + rounding + nothing(way.start) +
                  nothing(way.end);
  return (gap_along<Pair>(m, way.start) > floor) & (gap_along<Pair>(m, way.end) > floor);
}

/// Whether the sides stay farther apart than `least` [m] wherever each corner is in the box around the ends
/// of its way, grown by `spare` [m]. Here the ends of the way are relative to where corner 0 starts.
template <class Pair, class T>
SS_HD inline auto keeps_away(const Way<T>& way, T least, T spare) {
  using Scalar = typename Pair::Scalar;
  const Vec<T, 3> r = between(static_cast<const Pair*>(nullptr), way.start);
  const Vec<T, 3> m = r * (T(1) / root(norm2(r)));
  T reach = T(0), a = T(0), b = T(0);
  for (int i = 0; i < 4; ++i) {
    T least_of_a = T(0), most_of_b = T(0);
    for (int k = 0; k < 3; ++k) {
      const T start = m[k] * way.start[i][k], end = m[k] * way.end[i][k];
      least_of_a += smaller(start, end);
      most_of_b += larger(start, end);
    }
    if (i < Pair::kCornersOfA) a = i == 0 ? least_of_a : smaller(a, least_of_a);
    else b = i == Pair::kCornersOfA ? most_of_b : larger(b, most_of_b);
    reach = larger_size(way.end[i], larger_size(way.start[i], reach));
  }
  T width = T(0);  // of a box of half size 1, along m
  for (int k = 0; k < 3; ++k) width += T(2) * larger(m[k], -m[k]);
  const T rounding =
      additive::gap_rounding(Scalar(1)) * reach + storage_rounding(Scalar(1)) * (way.origin + reach);
  return a - b > least + spare * width + rounding + nothing(way.start) + nothing(way.end);
}

}  // namespace stickslip::clearance
