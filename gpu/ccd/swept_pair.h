// A point and a triangle, or two edges, that move on straight lines: the queries that every time-of-impact
// method needs.
#pragma once

#include "gpu/ccd/volume.h"
#include "gpu/geometry/aabb.h"
#include "gpu/geometry/distance.h"

namespace stickslip {

/// Corners x + t p. The first `kCornersOfA` belong to side a. `volume`: of corners relative to one of them.
template <class T>
struct PointTriangle {
  using Scalar = T;
  static constexpr int kCornersOfA = 1;
  Vec<T, 3> x[4], p[4];
  SS_HD static constexpr auto closest(const Vec<T, 3> (&y)[4]) {
    return point_triangle_closest(y[0], y[1], y[2], y[3]);
  }
  SS_HD static constexpr Volume<T> volume(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], T gap) {
    return volume_of(moving_edge(x, p, 1, 0), moving_edge(x, p, 1, 2), moving_edge(x, p, 1, 3), gap);
  }
};
template <class T>
struct EdgeEdge {
  using Scalar = T;
  static constexpr int kCornersOfA = 2;
  Vec<T, 3> x[4], p[4];
  SS_HD static constexpr auto closest(const Vec<T, 3> (&y)[4]) {
    return edge_edge_closest(y[0], y[1], y[2], y[3]);
  }
  SS_HD static constexpr Volume<T> volume(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], T gap) {
    return volume_of(moving_edge(x, p, 2, 0), moving_edge(x, p, 0, 1), moving_edge(x, p, 2, 3), gap);
  }
};

/// From the corners at t = 0 to those at t = 1, as seen from corner 0: then rounding is relative to the size
/// of the pair and of its relative motion, wherever it is and however far it goes.
template <class Pair, class T>
SS_HD constexpr Pair swept_pair(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  Pair pair{};
  for (int i = 0; i < 4; ++i) {
    pair.x[i] = start[i] - start[0];
    pair.p[i] = (end[i] - end[0]) - pair.x[i];
  }
  return pair;
}

/// Whether a coordinate axis separates the sides: all corners of one lie beyond all of the other at both ends
/// of the motion, and so in between.
enum class Parted { no, inside, always };  // inside: except perhaps at t = 0 and at t = 1
template <class Pair, class T>
SS_HD constexpr Parted parted_by_axis(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  Parted parted = Parted::no;
  for (int axis = 0; axis < 3; ++axis) {
    // Comparisons only, so that nothing is rounded.
    bool above = true, below = true, strict = true;
    for (int i = 0; i < Pair::kCornersOfA; ++i)
      for (int j = Pair::kCornersOfA; j < 4; ++j) {
        const T a0 = start[i][axis], a1 = end[i][axis], b0 = start[j][axis], b1 = end[j][axis];
        above = above && a0 >= b0 && a1 >= b1 && (a0 > b0 || a1 > b1);
        below = below && a0 <= b0 && a1 <= b1 && (a0 < b0 || a1 < b1);
        strict = strict && a0 != b0 && a1 != b1;
      }
    if (!above && !below) continue;
    if (strict) return Parted::always;
    parted = Parted::inside;
  }
  return parted;
}

/// The distance at time t.
template <class Pair, class T>
SS_HD constexpr T distance_at(const Pair& pair, T t) {
  Vec<T, 3> y[4];
  for (int i = 0; i < 4; ++i) y[i] = pair.x[i] + t * pair.p[i];
  return std::sqrt(Pair::closest(y).d2);
}

/// The largest coordinate that is reached.
template <class T>
SS_HD constexpr T larger_reach(const Vec<T, 3>& position, const Vec<T, 3>& motion, T so_far) {
  for (int a = 0; a < 3; ++a) {
    const T size = std::abs(position[a]) + std::abs(motion[a]);
    so_far = size > so_far ? size : so_far;
  }
  return so_far;
}

/// Bounds the relative shift of two corners from storing x + t p in T.
template <class T>
SS_HD constexpr T storage_rounding(T reach) {
  return T(4) * std::numeric_limits<T>::epsilon() * reach;
}

/// Cheap and sufficient: the boxes at t = 0 are further apart than the two sides can approach within t_max,
/// less the share `kept` of that distance. With a `thickness`, the gap
/// (the distance less it) takes the place of the distance.
template <class Pair, class T>
SS_HD constexpr bool stays_apart(const Pair& pair, T kept, T t_max, T thickness = T(0)) {
  AabbT<T> a = AabbT<T>::empty(), b = a, motion_a = a, motion_b = a;
  T reach = T(0);
  for (int i = 0; i < 4; ++i) {
    const bool in_a = i < Pair::kCornersOfA;
    const Vec<T, 3> motion = t_max * pair.p[i];
    (in_a ? a : b) = merge(in_a ? a : b, pair.x[i]);
    (in_a ? motion_a : motion_b) = merge(in_a ? motion_a : motion_b, motion);
    reach = larger_reach(pair.x[i], motion, reach);
  }
  const Vec<T, 3> gap = max(Vec<T, 3>::zero(), max(a.lo - b.hi, b.lo - a.hi));
  const Vec<T, 3> approach =
      max(motion_a.hi - motion_b.lo, motion_b.hi - motion_a.lo) + Vec<T, 3>::filled(storage_rounding(reach));
  // The last factor is room for the rounding of the few operations above.
  if (thickness > T(0)) {
    const T free = norm(gap) - thickness;
    return free > T(0) && norm2(approach) < (T(1) - kept) * (T(1) - kept) * free * free * T(0.999);
  }
  return norm2(approach) < (T(1) - kept) * (T(1) - kept) * norm2(gap) * T(0.999);
}

}  // namespace stickslip
