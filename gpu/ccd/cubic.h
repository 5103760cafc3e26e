// Time of impact from the cubic of coplanarity [Guo24 §5.3].
//
// Four moving points can touch only while they lie in one plane: at a root of the volume f(t) = c(t) . a(t) x
// b(t). The first root in [-eps, 1 + eps] is found by Newton's method safeguarded by bisection on a monotone
// interval, the others after deflation. A root is an impact if the distance of the pair there, with its
// degenerate cases, is within the kept distance; it is then moved to the side on which it came from: f there
// must have the sign it has halfway back to the root before, else t *= 0.9.
//
// Where f vanishes to rounding for all t the motion is planar and has no roots to find: that pair is left to
// the additive method. Rounding can still hide an impact here: use the additive method where no impact may be
// missed.
#pragma once

#include "gpu/ccd/additive.h"

namespace stickslip::cubic {

/// f(t) = c[0] + c[1] t + c[2] t^2 + c[3] t^3, evaluated to within `noise` on [-1, 2].
template <class T>
struct Cubic {
  T c[4];
  T noise;

  SS_HD constexpr T operator()(T t) const { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }
  SS_HD constexpr T slope(T t) const { return c[1] + t * (T(2) * c[2] + t * T(3) * c[3]); }
};

/// Ascending.
template <class T>
struct Roots {
  T t[8];
  int count = 0;

  SS_HD constexpr void insert(T root) {
    int at = count++;
    for (; at > 0 && t[at - 1] > root; --at) t[at] = t[at - 1];
    t[at] = root;
  }
};

/// Real roots of a + b t + c t^2, without cancellation.
template <class T>
SS_HD inline Roots<T> quadratic_roots(T a, T b, T c) {
  Roots<T> roots{};
  const T discriminant = b * b - T(4) * a * c;
  if (!(discriminant >= T(0))) return roots;
  const T q = T(-0.5) * (b + std::copysign(std::sqrt(discriminant), b));
  if (q != T(0)) roots.insert(a / q);
  if (c != T(0)) roots.insert(q / c);
  return roots;
}

/// The root in [low, high], on which f is monotone and changes sign.
template <class T>
SS_HD inline T bracketed_root(const Cubic<T>& f, T low, T high) {
  const bool rising = f(low) < T(0);
  T t = T(0.5) * (low + high);
  for (int k = 0; k < 64; ++k) {
    const T value = f(t);
    if (value == T(0)) return t;
    ((value < T(0)) == rising ? low : high) = t;
    const T newton = t - value / f.slope(t);
    const T next = newton > low && newton < high ? newton : T(0.5) * (low + high);
    if (std::abs(next - t) <= std::numeric_limits<T>::epsilon() * std::abs(t) || next == t) return next;
    t = next;
  }
  return t;
}

/// The roots in [low, high], and those of the ends and extrema there that are zero to within the noise.
template <class T>
SS_HD inline Roots<T> roots_between(const Cubic<T>& f, T low, T high) {
  Roots<T> knots{};
  knots.insert(low);
  const Roots<T> extrema = quadratic_roots(f.c[1], T(2) * f.c[2], T(3) * f.c[3]);
  for (int k = 0; k < extrema.count; ++k)
    if (extrema.t[k] > low && extrema.t[k] < high) knots.insert(extrema.t[k]);
  knots.insert(high);

  Roots<T> roots{};
  for (int k = 0; k < knots.count; ++k)
    if (std::abs(f(knots.t[k])) <= f.noise) roots.insert(knots.t[k]);
  for (int k = 0; k + 1 < knots.count; ++k) {
    if ((f(knots.t[k]) < T(0)) == (f(knots.t[k + 1]) < T(0))) continue;
    const T first = bracketed_root(f, knots.t[k], knots.t[k + 1]);
    roots.insert(first);
    // f = (t - first) (a t^2 + b t + c); what is left lies behind the first root.
    const T a = f.c[3], b = f.c[2] + a * first, c = f.c[1] + b * first;
    const Roots<T> others = quadratic_roots(c, b, a);
    for (int i = 0; i < others.count; ++i)
      if (others.t[i] > first && others.t[i] <= high) roots.insert(others.t[i]);
    break;
  }
  return roots;
}

/// The volume spanned by side a and side b over time.
template <class T>
SS_HD constexpr Cubic<T> coplanarity(const Vec<T, 3> (&x)[3], const Vec<T, 3> (&v)[3]) {
  const Vec<T, 3> n0 = cross(x[1], x[2]), n1 = cross(x[1], v[2]) + cross(v[1], x[2]), n2 = cross(v[1], v[2]);
  T size = T(1);
  for (int i = 0; i < 3; ++i) size *= norm(x[i]) + norm(v[i]);
  return {{dot(x[0], n0), dot(v[0], n0) + dot(x[0], n1), dot(v[0], n1) + dot(x[0], n2), dot(v[0], n2)},
          T(8) * std::numeric_limits<T>::epsilon() * size};
}
template <class T>
SS_HD constexpr Cubic<T> coplanarity(const PointTriangle<T>& pair) {
  const auto& x = pair.x;
  const auto& p = pair.p;
  return coplanarity<T>({x[0] - x[1], x[2] - x[1], x[3] - x[1]}, {p[0] - p[1], p[2] - p[1], p[3] - p[1]});
}
template <class T>
SS_HD constexpr Cubic<T> coplanarity(const EdgeEdge<T>& pair) {
  const auto& x = pair.x;
  const auto& p = pair.p;
  return coplanarity<T>({x[0] - x[2], x[1] - x[0], x[3] - x[2]}, {p[0] - p[2], p[1] - p[0], p[3] - p[2]});
}

/// A step in [0, t_max] that leaves the share `kept` in [0, 1) of the way to the first impact.
template <class Pair, class T>
SS_HD inline T toi(const Pair& motion, T kept, T t_max) {
  // Time in units of the last impact that shortens the step, so that a root t means the step t t_max.
  Pair pair = motion;
  const T unit = t_max / (T(1) - kept);
  T reach = T(0);
  for (int i = 0; i < 4; ++i) {
    pair.p[i] *= unit;
    reach = larger_reach(pair.x[i] - pair.x[0], pair.p[i] - pair.p[0], reach);
  }
  const Cubic<T> f = coplanarity(pair);
  const T largest = std::abs(f.c[0]) + std::abs(f.c[1]) + std::abs(f.c[2]) + std::abs(f.c[3]);
  if (!(largest > f.noise))
    return kept > T(0) ? additive::toi(motion, kept, t_max) : additive::contact_toi(motion, t_max);

  constexpr T machine = T(16) * std::numeric_limits<T>::epsilon();
  constexpr T eps = machine > T(1e-12) ? machine : T(1e-12);
  const T impact_distance = kept * distance_at(pair, T(0)) + eps * reach;
  const Roots<T> roots = roots_between(f, -eps, T(1) + eps);
  T before = T(0);
  for (int k = 0; k < roots.count; ++k) {
    T t = roots.t[k] < T(0) ? T(0) : (roots.t[k] > T(1) ? T(1) : roots.t[k]);
    if (distance_at(pair, t) > impact_distance) {
      before = t;
      continue;
    }
    const T side = f(T(0.5) * (before + t)) < T(0) ? T(-1) : T(1);
    for (int back = 0; back < 32 && side * f(t) < -f.noise; ++back) t *= T(0.9);
    return t * t_max;
  }
  return t_max;
}

/// Whether the sides touch while the corners move on straight lines from start to end, as far as rounding
/// lets `toi` see it.
template <class Pair, class T>
SS_HD constexpr bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  const Parted parted = parted_by_axis<Pair>(start, end);
  if (parted == Parted::always) return false;
  if (parted == Parted::inside) return !additive::apart<Pair>(start) || !additive::apart<Pair>(end);
  return !(toi(swept_pair<Pair>(start, end), T(0), T(1)) >= T(1));
}

/// Displacements p; `toi` above.
template <class T>
SS_HD inline T point_triangle_toi(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], T kept, T t_max) {
  return toi(PointTriangle<T>{{x[0], x[1], x[2], x[3]}, {p[0], p[1], p[2], p[3]}}, kept, t_max);
}
template <class T>
SS_HD inline T edge_edge_toi(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], T kept, T t_max) {
  return toi(EdgeEdge<T>{{x[0], x[1], x[2], x[3]}, {p[0], p[1], p[2], p[3]}}, kept, t_max);
}

}  // namespace stickslip::cubic
