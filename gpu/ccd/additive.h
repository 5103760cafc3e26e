// Conservative advancement in the manner of the additive CCD of Codim-IPC [Li et al. 2021, §6].
//
// The pair is moved forward by steps that cannot close its gap, until the gap is used up. Where additive CCD
// divides the distance by the largest relative displacement, we follow every pair of corners (i of a, j of b)
// along the separating direction m = (a - b)/|a - b|: the sides stay apart along m as long as every g_ij + t
// v_ij > 0, with g_ij = m.(x_i - x_j) and v_ij = m.(p_i - p_j). As g_ij >= distance and |v_ij| <= |p_i - p_j|
// a step is never shorter than theirs, and a pure translation along m takes one step.
//
// Rounding. min_ij g_ij along *any* m bounds the distance from below, so an inexact closest point makes a
// step shorter, not unsafe. What remains is the rounding of g_ij + t v_ij, less than 12 epsilon R, for
// coordinates of size R relative to corner 0, and that of the positions x + t p which the caller stores, less
// than 4 epsilon C for coordinates of size C. Every step leaves this much beside the kept share.
#pragma once

#include "gpu/ccd/swept_pair.h"

namespace stickslip::additive {

/// Along one direction: the gap between the sides, and how long it stays above `floor`.
template <class T>
struct Advance {
  T gap, step;
};
template <class Pair, class T>
SS_HD constexpr Advance<T> advance(const Vec<T, 3> (&y)[4], const Vec<T, 3> (&q)[4], const Vec<T, 3>& m,
                                   T floor, T t_max) {
  T place[4], speed[4];
  for (int i = 0; i < 4; ++i) {
    place[i] = dot(m, y[i]);
    speed[i] = dot(m, q[i]);
  }
  Advance<T> result{place[0] - place[3], t_max};
  for (int i = 0; i < Pair::kCornersOfA; ++i)
    for (int j = Pair::kCornersOfA; j < 4; ++j) {
      const T gap = place[i] - place[j], approach = speed[j] - speed[i];
      if (gap < result.gap) result.gap = gap;
      // Without division unless the step becomes shorter.
      if (approach > T(0) && gap - floor < result.step * approach) result.step = (gap - floor) / approach;
    }
  return result;
}

/// The largest t in [0, t_max] found safe: on all of [0, t] the pair keeps at least the share `kept` in (0,
/// 1) of its initial distance. Ends on the safe side after a bounded number of steps; t = 0 for a pair that
/// touches. A pair closer than rounding can tell may separate but not approach.
template <class Pair, class T>
SS_HD constexpr T toi(const Pair& pair, T kept, T t_max) {
  constexpr int kMostSteps = 256;
  Vec<T, 3> x[4], p[4], y[4];
  T reach = T(0), reach_relative = T(0);
  for (int i = 0; i < 4; ++i) {
    x[i] = pair.x[i] - pair.x[0];
    p[i] = pair.p[i] - pair.p[0];
    reach = larger_reach(pair.x[i], t_max * pair.p[i], reach);
    reach_relative = larger_reach(x[i], t_max * p[i], reach_relative);
    y[i] = x[i];
  }
  const T rounding = T(12) * std::numeric_limits<T>::epsilon() * reach_relative + storage_rounding(reach);
  T t = T(0), kept_gap = T(0);
  for (int k = 0; k < kMostSteps; ++k) {
    const auto closest = Pair::closest(y);
    if (!(closest.d2 > T(0))) return t;
    if (k == 0) kept_gap = kept * std::sqrt(closest.d2);
    const T floor = kept_gap + rounding;
    const Advance<T> next = advance<Pair>(y, p, normalized(closest.r), floor, t_max - t);
    const bool clear = next.step >= t_max - t;
    if (!(next.gap > floor)) return clear && k == 0 && next.gap > T(0) ? t_max : t;
    if (clear) return t_max;
    const bool creeping = next.gap < floor + T(0.5) * kept_gap && next.step < T(0.05) * t;
    t += next.step;
    if (creeping) return t;
    for (int i = 0; i < 4; ++i) y[i] = x[i] + t * p[i];
  }
  return t;
}

/// Displacements p; `toi` above.
template <class T>
SS_HD constexpr T point_triangle_toi(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], T kept, T t_max) {
  return toi(PointTriangle<T>{{x[0], x[1], x[2], x[3]}, {p[0], p[1], p[2], p[3]}}, kept, t_max);
}
template <class T>
SS_HD constexpr T edge_edge_toi(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], T kept, T t_max) {
  return toi(EdgeEdge<T>{{x[0], x[1], x[2], x[3]}, {p[0], p[1], p[2], p[3]}}, kept, t_max);
}

}  // namespace stickslip::additive
