// The volume that the corners of a moving pair span, as a certificate that its sides stay apart.
//
// Sides touch only while the corners lie in one plane. With c from a point of side b to one of side a, and a,
// b their directions, let r be the vector between the closest points: c - r is a sum of multiples of a and b,
// so f = c . a x b = r . a x b, and |f| > gap |a x b| means that the distance |r| is above the gap. All three
// vectors move linearly, so f is a cubic in time, and a x b a quadratic, no longer than its longest control
// point.
//
// Rounding, for coordinates that sum up to s_c, s_a, s_b per vector: f has six products of at most s = s_c
// s_a s_b. Less than 6 u relative error (u = epsilon / 2) of each coordinate makes 108 u s, the arithmetic 48
// u s, the evaluation 90 u s, and the rounding of a time 144 u s. A control point of a x b is off by less
// than 52 u s_a s_b and the gap, below |c| at the start, is less than sqrt(3) s_c: 91 u s. Their product,
// which is below 6 s where it matters, adds 24 u s. Together less than 256 epsilon s.
#pragma once

#include <limits>

#include "gpu/math/vec.h"

namespace stickslip {

/// In Bernstein form on [0, 1].
template <class T>
struct Volume {
  T b[4];
  T floor;  // what |f| must exceed

  /// Control points of |f| - floor on [start, end], for f's sign at `start`.
  SS_HD constexpr void control_points(T start, T end, T (&h)[4]) const {
    T one_start[3], one_end[3], both_start[2], mixed[2], both_end[2];
    for (int k = 0; k < 3; ++k) {
      one_start[k] = b[k] + start * (b[k + 1] - b[k]);
      one_end[k] = b[k] + end * (b[k + 1] - b[k]);
    }
    for (int k = 0; k < 2; ++k) {
      both_start[k] = one_start[k] + start * (one_start[k + 1] - one_start[k]);
      mixed[k] = one_start[k] + end * (one_start[k + 1] - one_start[k]);
      both_end[k] = one_end[k] + end * (one_end[k + 1] - one_end[k]);
    }
    h[0] = both_start[0] + start * (both_start[1] - both_start[0]);
    h[1] = both_start[0] + end * (both_start[1] - both_start[0]);
    h[2] = mixed[0] + end * (mixed[1] - mixed[0]);
    h[3] = both_end[0] + end * (both_end[1] - both_end[0]);
    const T sign = h[0] < T(0) ? T(-1) : T(1);
    for (T& height : h) height = sign * height - floor;
  }

  /// The largest t in [from, 1] found such that |f| > floor on all of [from, t). Bernstein clipping: f cannot
  /// reach the floor before the convex hull of its control points does. Over a short part the hull is tight,
  /// so the next part is about as long as the way to a simple or double root.
  SS_HD constexpr T clear_until(T from) const {
    constexpr int kMostCuts = 16;
    T t = from, end = T(1), h[4] = {};
    for (int n = 0; n < kMostCuts && t < T(1); ++n) {
      control_points(t, end, h);
      if (!(h[0] > T(0))) return t;
      const T width = end - t;
      if (h[1] > T(0) && h[2] > T(0) && h[3] > T(0)) {
        t = end;
        end = t + T(2) * width < T(1) ? t + T(2) * width : T(1);
        continue;
      }
      T crossing = T(1);
      for (int k = 1; k < 4; ++k)
        for (int j = 0; j < k; ++j)
          if (h[j] > T(0) && !(h[k] > T(0))) {
            const T at = (T(j) + T(k - j) * h[j] / (h[j] - h[k])) / T(3);
            crossing = at < crossing ? at : crossing;
          }
      t += crossing * width;
      if (!(width > T(1e-2) * t) && !(crossing > T(0.1))) return t;
      const T next = t + std::sqrt(crossing) * width;
      end = next < end ? next : end;
    }
    return t < T(1) ? t : T(1);
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
  // Of the control points of a x b, squared.
  const T start = norm2(n0), middle = norm2(n1) / T(4), end = norm2(n2);
  const T longer = start > end ? start : end, longest = longer > middle ? longer : middle;
  const T s = c.size * a.size * b.size, underflow = T(64) * Limits::min() * (T(1) + c.size);
  // NaN, which certifies nothing, where f overflows.
  const T overflow = T(8) * s - T(8) * s;
  return {{dot(c.start, n0), (dot(c.end, n0) + dot(c.start, n1)) / T(3),
           (dot(c.start, n2) + dot(c.end, n1)) / T(3), dot(c.end, n2)},
          T(256) * Limits::epsilon() * s + underflow + overflow + gap * std::sqrt(longest)};
}

}  // namespace stickslip
