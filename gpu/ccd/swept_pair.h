// A point and a triangle or two edges that move on straight lines: what every time-of-impact method asks of
// them.
#pragma once

#include "gpu/geometry/aabb.h"
#include "gpu/geometry/distance.h"

namespace stickslip {

/// Corners x + t p. The first `kCornersOfA` belong to side a.
template <class T>
struct PointTriangle {
  static constexpr int kCornersOfA = 1;
  Vec<T, 3> x[4], p[4];
  SS_HD static constexpr auto closest(const Vec<T, 3> (&y)[4]) {
    return point_triangle_closest(y[0], y[1], y[2], y[3]);
  }
};
template <class T>
struct EdgeEdge {
  static constexpr int kCornersOfA = 2;
  Vec<T, 3> x[4], p[4];
  SS_HD static constexpr auto closest(const Vec<T, 3> (&y)[4]) {
    return edge_edge_closest(y[0], y[1], y[2], y[3]);
  }
};

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

/// Bounds what storing x + t p in T moves two corners against each other.
template <class T>
SS_HD constexpr T storage_rounding(T reach) {
  return T(4) * std::numeric_limits<T>::epsilon() * reach;
}

/// Cheap and sufficient: the boxes at t = 0 are further apart than the two sides can approach within t_max,
/// less the share `kept` of that distance.
template <class Pair, class T>
SS_HD constexpr bool stays_apart(const Pair& pair, T kept, T t_max) {
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
  return norm2(approach) < (T(1) - kept) * (T(1) - kept) * norm2(gap) * T(0.999);
}

}  // namespace stickslip
