// Conservative advancement in the manner of the additive CCD of Codim-IPC [Li21 §6].
//
// The pair is moved forward by steps that cannot close its gap, until the gap is used up. Where additive CCD
// divides the distance by the largest relative displacement, we follow every pair of corners (i of a, j of b)
// along the separating direction m = (a - b)/|a - b|: the sides stay apart along m as long as every g_ij + t
// v_ij > 0, with g_ij = m.(x_i - x_j) and v_ij = m.(p_i - p_j). As g_ij >= distance and |v_ij| <= |p_i - p_j|
// a step is never shorter than theirs, and a pure translation along m takes one step. Where the sides turn,
// steps along directions only creep: over sliding faces with gaps of 1e-7 m, 256 of them used to end after a
// thirtieth of the way. So each is prolonged for as long as the volume that the corners span shows that
// enough of the distance is left (volume.h).
//
// Rounding. min_ij g_ij along *any* unit m bounds the distance from below, so an inexact closest point makes
// a step shorter, not unsafe. What remains is the rounding of g_ij + t v_ij. With u = epsilon / 2,
// coordinates up to R relative to corner 0 and sum |m_k| <= sqrt(3): a coordinate y = x + t p is off by 3 u R
// from its inputs (differences of positions and of displacements, or of both ends of the motion) and 2 u R
// from its own operations; m.y adds 3 u sqrt(3) R, a rounded time u sqrt(3) R. Twice this sum of 9 sqrt(3) u
// R, and 14 u R for the gap and the division that gives the step, stay below 24 epsilon R. Positions x + t p
// which the caller stores are off by less than 4 epsilon C for coordinates of size C. Every step leaves this
// much beside the kept share. Nothing but T enters: in float the bound is a wider one.
#pragma once

#include "gpu/ccd/swept_pair.h"
#include "gpu/ccd/volume.h"

namespace stickslip::additive {

/// Of a gap along a unit direction, for coordinates up to `reach` relative to corner 0.
template <class T>
SS_HD constexpr T gap_rounding(T reach) {
  return T(24) * std::numeric_limits<T>::epsilon() * reach;
}

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

/// `toi` below, or for kUpToContact `contact_toi`.
template <bool kUpToContact, class Pair, class T>
SS_HD constexpr T safe_time(const Pair& pair, T kept, T t_max, T thickness) {
  constexpr int kMostSteps = kUpToContact ? 64 : 256;
  // Where something is kept of the distance, the first step is mostly all there is.
  constexpr int kWithoutVolume = kUpToContact ? 0 : 1;
  Vec<T, 3> x[4], p[4], y[4];
  T reach = T(0), reach_relative = T(0);
  for (int i = 0; i < 4; ++i) {
    x[i] = pair.x[i] - pair.x[0];
    p[i] = t_max * (pair.p[i] - pair.p[0]);
    reach = larger_reach(pair.x[i], t_max * pair.p[i], reach);
    reach_relative = larger_reach(x[i], p[i], reach_relative);
    y[i] = x[i];
  }
  const T rounding = gap_rounding(reach_relative) + (kUpToContact ? T(0) : storage_rounding(reach));
  // Time in units of t_max.
  T t = T(0), kept_gap = T(0);
  Volume<T> volume{};
  for (int k = 0; k < kMostSteps; ++k) {
    const auto closest = Pair::closest(y);
    if (!(closest.d2 > std::numeric_limits<T>::min())) return t * t_max;
    if (k == 0) {
      const T gap = std::sqrt(closest.d2) - thickness;
      kept_gap = gap > T(0) ? kept * gap : T(0);
    }
    const T floor = thickness + kept_gap + rounding;
    const Advance<T> next = advance<Pair>(y, p, normalized(closest.r), floor, T(1) - t);
    const bool clear = next.step >= T(1) - t;
    if (!(next.gap > floor)) {
      const bool separates = !kUpToContact && k == 0 && clear && next.gap > T(0);
      return separates ? t_max : t * t_max;
    }
    if (clear) return t_max;
    const T before = t;
    t += next.step;
    if (k == kWithoutVolume) volume = Pair::volume(x, p, floor);
    if (k >= kWithoutVolume) {
      t = volume.clear_until(t);
      if (t >= T(1)) return t_max;
    }
    const bool near = next.gap < floor + T(0.5) * kept_gap + rounding;
    if (near && t - before < T(0.05) * t) return t * t_max;
    for (int i = 0; i < 4; ++i) y[i] = x[i] + t * p[i];
  }
  return t * t_max;
}

/// The largest t in [0, t_max] found safe: on all of [0, t] the pair keeps at least the share `kept` in (0,
/// 1) of its initial gap, the distance less `thickness`, and so do the positions x + t p as stored. Ends on
/// the safe side after a bounded number of steps; t = 0 for a pair that touches. A pair closer than rounding
/// can tell may separate but not approach.
template <class Pair, class T>
SS_HD constexpr T toi(const Pair& pair, T kept, T t_max, T thickness = T(0)) {
  return safe_time<false>(pair, kept, t_max, thickness);
}

/// The largest t in [0, t_max] found to be free of contact: a pair does not touch on [0, t], but for t = 0.
template <class Pair, class T>
SS_HD constexpr T contact_toi(const Pair& pair, T t_max) {
  return safe_time<true>(pair, T(0), t_max, T(0));
}

/// False where the distance of points at rest is within rounding of zero.
template <class Pair, class T>
SS_HD constexpr bool apart(const Vec<T, 3> (&x)[4]) {
  Vec<T, 3> y[4];
  T reach = T(0);
  for (int i = 0; i < 4; ++i) {
    y[i] = x[i] - x[0];
    reach = larger_reach(y[i], y[0], reach);
  }
  const auto closest = Pair::closest(y);
  if (!(closest.d2 > std::numeric_limits<T>::min())) return false;
  return advance<Pair>(y, y, normalized(closest.r), T(0), T(1)).gap > gap_rounding(reach);
}

/// Whether the sides may touch while the corners move on straight lines from start to end, both included:
/// true for every pair that does, in exact arithmetic on the given coordinates; also true for a pair that
/// comes closer than rounding can tell (head of this file) or that uses up the steps of `contact_toi`.
template <class Pair, class T>
SS_HD constexpr bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  const Parted parted = parted_by_axis<Pair>(start, end);
  if (parted == Parted::always) return false;
  if (parted == Parted::inside) return !apart<Pair>(start) || !apart<Pair>(end);
  return !(contact_toi(swept_pair<Pair>(start, end), T(1)) >= T(1));
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
