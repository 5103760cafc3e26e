// The multivariate form by Newton's method, certified [Course Eqs. 102, 103].
//
// Newton's method alone finds some root, if it finds one: not the first, and nothing follows where it fails.
// So it runs on boxes, as in interval Newton methods. The rows of the inverse of F's Jacobian at the middle
// of a box are, up to their lengths, a x b, b x F_t and F_t x a. Along the row of a variable F depends on
// that variable alone, up to what shrinks with the box. F is affine along the edges of the box, so where all
// of them leave zero behind is a division away, as is Newton's step: up to there the box is free of roots,
// and is cut off. Near a simple root the box shrinks quadratically. Where the Jacobian is singular (parallel
// edges, a point that grazes) rows give no more than other directions do, and box_search.h halves the box.
//
// No row has to be accurate: a bound along any direction is a bound.
#pragma once

#include "gpu/ccd/box_search.h"

namespace stickslip::multivariate {

/// Cuts off the ends of the box along variable k on which |f| > floor + noise; false if that is all of it.
template <class T>
SS_HD inline bool cut(const box_search::Component<T>& f, T floor, int k, box_search::Box<T>& box) {
  const T limit = floor + f.noise;
  // The values at the low and the high ends of the four edges along k.
  T low[4], high[4];
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  for (int e = 0; e < 4; ++e) {
    T x[3];
    x[i] = e & 1 ? box.high[i] : box.low[i];
    x[j] = e & 2 ? box.high[j] : box.low[j];
    x[k] = box.low[k];
    low[e] = f.at(x[0], x[1], x[2]);
    x[k] = box.high[k];
    high[e] = f.at(x[0], x[1], x[2]);
  }
  // The share of the way from one end on which all edges stay beyond the limit, on the side they start from.
  const auto free_share = [limit](const T(&from)[4], const T(&to)[4]) {
    const T sign = from[0] < T(0) ? T(-1) : T(1);
    T share = T(2);
    for (int e = 0; e < 4; ++e) {
      const T start = sign * from[e], end = sign * to[e];
      if (!(start > limit)) return T(0);
      if (end > limit) continue;
      const T crossing = (start - limit) / (start - end);
      share = crossing < share ? crossing : share;
    }
    return share;
  };
  constexpr T room = T(1) - T(8) * std::numeric_limits<T>::epsilon();
  const T from_low = free_share(low, high), from_high = free_share(high, low);
  if (from_low > T(1) || from_high > T(1)) return false;
  const T size = box.high[k] - box.low[k];
  const T new_low = box.low[k] + from_low * room * size, new_high = box.high[k] - from_high * room * size;
  if (from_low > T(0) && new_low > box.low[k]) box.low[k] = new_low;
  if (from_high > T(0) && new_high < box.high[k]) box.high[k] = new_high;
  return box.low[k] <= box.high[k];
}

struct Newton {
  static constexpr int kMostBoxes = 1024;
  template <class T>
  SS_HD static constexpr T tolerance() {
    return T(256) * std::numeric_limits<T>::epsilon();
  }
  template <class T>
  SS_HD static bool narrow(const box_search::MovingGap<T>& gap, T tolerance, box_search::Box<T>& box) {
    using V = Vec<T, 3>;
    constexpr int kMostRounds = 16;
    for (int round = 0; round < kMostRounds; ++round) {
      if (!gap.clip(box) || !gap.may_vanish(box)) return false;
      const box_search::Box<T> before = box;
      T x[3];
      for (int k = 0; k < 3; ++k) x[k] = T(0.5) * (box.low[k] + box.high[k]);
      const V rate = gap.c[1] + x[1] * gap.a[1] + x[2] * gap.b[1];
      const V a = gap.a[0] + x[0] * gap.a[1], b = gap.b[0] + x[0] * gap.b[1];
      const V row[3] = {cross(a, b), cross(b, rate), cross(rate, a)};
      if (!cut(gap.tested[3], gap.floor, 0, box)) return false;
      for (int k = 0; k < 3; ++k)
        if (norm2(row[k]) > std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon() &&
            !cut(gap.along(normalized(row[k])), gap.floor, k, box))
          return false;
      bool halved = false, wide = false;
      const V width = gap.widths(box);
      for (int k = 0; k < 3; ++k) {
        halved = halved || box.high[k] - box.low[k] < T(0.5) * (before.high[k] - before.low[k]);
        wide = wide || width[k] > tolerance;
      }
      if (!halved || !wide) break;
    }
    return gap.clip(box) && gap.may_vanish(box);
  }
};

/// additive::toi, contact_toi and may_touch by Newton's method on boxes.
template <class Pair, class T>
SS_HD inline T toi(const Pair& pair, T kept, T t_max, T thickness = T(0)) {
  return box_search::toi<Newton>(pair, kept, t_max, thickness);
}
template <class Pair, class T>
SS_HD inline T contact_toi(const Pair& pair, T t_max) {
  return box_search::first_contact<Newton>(pair, t_max).time;
}
template <class Pair, class T>
SS_HD inline bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  return box_search::may_touch<Newton, Pair>(start, end);
}

}  // namespace stickslip::multivariate
