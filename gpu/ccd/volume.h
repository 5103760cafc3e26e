// The volume that the corners of a moving pair span, as a certificate that its sides stay apart.
//
// Sides touch only while the corners lie in one plane. With c from a point of side b to one of side a, and a,
// b their directions, let r be the vector between the closest points: c - r is a sum of multiples of a and b,
// so f = c . a x b = r . a x b, and |f| > gap |a| |b| means that the distance |r| is above the gap. All three
// vectors move linearly, so f is a cubic in time.
//
// Rounding, for coordinates that sum up to s_c, s_a, s_b per vector: f has six products of at most s = s_c
// s_a s_b. Less than 6 u relative error (u = epsilon / 2) of each coordinate makes 108 u s, the arithmetic 48
// u s, the evaluation 90 u s, the rounding of a time 144 u s, and that of the gap 21 u s: together less than
// 256 epsilon s.
#pragma once

#include <limits>

#include "gpu/math/vec.h"

namespace stickslip {

/// In Bernstein form on [0, 1].
template <class T>
struct Volume {
  T b[4];
  T floor;  // what |f| must exceed

  /// The largest t in [from, 1] found such that |f| > floor on all of [from, t). Bernstein clipping: f cannot
  /// reach the floor before the convex hull of its control points does.
  SS_HD constexpr T clear_until(T from) const {
    constexpr int kMostCuts = 10;
    T t = from;
    for (int n = 0; n < kMostCuts; ++n) {
      // Control points of |f| - floor on [t, 1].
      T h[4] = {b[0], b[1], b[2], b[3]};
      for (int level = 3; level > 0; --level)
        for (int k = 0; k < level; ++k) h[k] += t * (h[k + 1] - h[k]);
      const T sign = h[0] < T(0) ? T(-1) : T(1);
      for (T& height : h) height = sign * height - floor;
      if (!(h[0] > T(0))) return t;
      if (h[1] > T(0) && h[2] > T(0) && h[3] > T(0)) return T(1);
      T crossing = T(1);
      for (int k = 1; k < 4; ++k)
        for (int j = 0; j < k; ++j)
          if (h[j] > T(0) && !(h[k] > T(0))) {
            const T at = (T(j) + T(k - j) * h[j] / (h[j] - h[k])) / T(3);
            crossing = at < crossing ? at : crossing;
          }
      const T step = crossing * (T(1) - t);
      t += step;
      if (!(step > T(1e-3) * t)) return t;
    }
    return t;
  }
};

/// A vector between two corners, and a bound of the coordinates that it is made of.
template <class T>
struct MovingEdge {
  Vec<T, 3> start, end;
  T size;
};
/// Corners x + t p.
template <class T>
SS_HD constexpr MovingEdge<T> moving_edge(const Vec<T, 3> (&x)[4], const Vec<T, 3> (&p)[4], int from,
                                          int to) {
  const Vec<T, 3> start = x[to] - x[from];
  MovingEdge<T> edge{start, start + (p[to] - p[from]), T(0)};
  for (int a = 0; a < 3; ++a) {
    const T size = std::abs(x[from][a]) + std::abs(x[to][a]) + std::abs(p[from][a]) + std::abs(p[to][a]);
    edge.size = size > edge.size ? size : edge.size;
  }
  return edge;
}

/// While its certificate holds, sides with the directions a and b, c apart, are more than `gap` apart.
template <class T>
SS_HD constexpr Volume<T> volume_of(const MovingEdge<T>& c, const MovingEdge<T>& a, const MovingEdge<T>& b,
                                    T gap) {
  using Limits = std::numeric_limits<T>;
  const Vec<T, 3> n0 = cross(a.start, b.start), n2 = cross(a.end, b.end);
  const Vec<T, 3> n1 = cross(a.start, b.end) + cross(a.end, b.start);
  const T a2_start = norm2(a.start), a2_end = norm2(a.end), b2_start = norm2(b.start), b2_end = norm2(b.end);
  const T a2 = a2_start > a2_end ? a2_start : a2_end, b2 = b2_start > b2_end ? b2_start : b2_end;
  const T s = c.size * a.size * b.size, underflow = T(64) * Limits::min() * (T(1) + c.size);
  // NaN, which certifies nothing, where f overflows.
  const T overflow = T(8) * s - T(8) * s;
  return {{dot(c.start, n0), (dot(c.end, n0) + dot(c.start, n1)) / T(3),
           (dot(c.start, n2) + dot(c.end, n1)) / T(3), dot(c.end, n2)},
          T(256) * Limits::epsilon() * s + underflow + overflow + gap * (std::sqrt(a2) * std::sqrt(b2))};
}

}  // namespace stickslip
