// The first root of the vector between the two sides of a pair, in time and in the coordinates of a point on
// each side [Course Eqs. 102, 103]:
//
//   F(t, u, v) = c(t) + u a(t) + v b(t), with c, a and b linear in t,
//
// on t in [0, 1] and the triangle u, v >= 0, u + v <= 1, or for edges the square u, v in [0, 1]. A root is a
// contact: there is nothing to check about it afterwards.
//
// Boxes of (t, u, v) wait in a queue, the earliest first. A method (inclusion.h, multivariate.h) shrinks or
// drops a box as far as F is certain not to vanish in what it takes away. What is left becomes two boxes,
// halves along the side over which F changes most, until that is less than a tolerance. The time up to which
// all is certain is that of the earliest box in the queue, whatever ends the search: a box within tolerance,
// a distance within tolerance at that time, or the limit of boxes. A queue that is full gives up its latest
// box, and with it all times from there on.
//
// F is affine in each variable. So along any direction it is bounded by its values at the corners of a box
// [Course §2.2.5; Wang21]. Four directions are tested: the axes and that of the closest points at t = 0,
// along which a pair that hardly turns is apart for all (u, v) at once. To keep a distance > 0, the box of
// the corner values has to be that far from zero.
//
// Rounding, u = epsilon / 2, coordinates up to R relative to corner 0. A corner x + t p is off by 3 u R from
// its inputs. One coordinate of c, a and b, at most 2 R each, is off by 8 u R with their differences and by 4
// u R more with t; products and sums make 14 u R: F is off by 50 u R. Along a unit direction, sum |m_k| <=
// sqrt(3), the same steps make 118 u R. The time of the caller (6 u R), corners of the triangle at 1 - u (2 u
// R) and ends of a box that was shrunk (4 u R) come on top, each times sqrt(3) along a direction. So 32 and
// 80 epsilon R cover all. T is the only type: in float the bound is a wider one.
#pragma once

#include "gpu/ccd/additive.h"
#include "gpu/core/out_of_line.h"

namespace stickslip::box_search {

/// Of (t, u, v).
template <class T>
struct Box {
  T low[3], high[3];
};

/// F along one direction; the second of each is the rate.
template <class T>
struct Component {
  T c[2], a[2], b[2];
  T noise;

  SS_HD constexpr T at(T t, T u, T v) const {
    return (c[0] + t * c[1]) + u * (a[0] + t * a[1]) + v * (b[0] + t * b[1]);
  }
};

/// The corners of a box's (u, v), without what lies outside of the triangle.
template <class T>
struct Corners {
  T u[5], v[5];
  int count;
};

/// The vector from side b to side a over time and both sides, and what is to be kept of its length.
template <class T>
struct MovingGap {
  using V = Vec<T, 3>;
  V c[2], a[2], b[2];  // at t = 0, and their rates
  bool triangle;       // u + v <= 1
  T floor;             // F counts as zero up to this length
  T noise;             // of F along a unit direction
  Component<T> tested[4];

  SS_HD constexpr Component<T> along(const V& m) const {
    return {{dot(m, c[0]), dot(m, c[1])}, {dot(m, a[0]), dot(m, a[1])}, {dot(m, b[0]), dot(m, b[1])}, noise};
  }

  SS_HD constexpr Corners<T> corners(const Box<T>& box) const {
    const T u0 = box.low[1], u1 = box.high[1], v0 = box.low[2], v1 = box.high[2];
    if (!triangle || u1 + v1 <= T(1)) return {{u0, u1, u0, u1, u0}, {v0, v0, v1, v1, v0}, 4};
    const T u2 = u0 > T(1) - v1 ? u0 : T(1) - v1, v2 = v0 > T(1) - u1 ? v0 : T(1) - u1;
    return {{u0, u1, u0, u2, u1}, {v0, v0, v1, v1, v2}, 5};
  }

  /// Takes off what lies outside of the triangle; false if that is all. Rounding is monotone: a sum above 1
  /// is one of numbers whose sum is above 1.
  SS_HD constexpr bool clip(Box<T>& box) const {
    if (!triangle) return true;
    constexpr T one = T(1) + std::numeric_limits<T>::epsilon();
    if (box.low[1] + box.low[2] > T(1)) return false;
    if (box.high[1] > one - box.low[2]) box.high[1] = one - box.low[2];
    if (box.high[2] > one - box.low[1]) box.high[2] = one - box.low[1];
    return true;
  }

  /// False where F is certainly longer than the floor on all of the box.
  SS_HD constexpr bool may_vanish(const Box<T>& box) const {
    const Corners<T> at = corners(box);
    T d2 = T(0);
    for (int k = 0; k < 4; ++k) {
      const Component<T>& f = tested[k];
      T low = std::numeric_limits<T>::max(), high = -low;
      for (int end = 0; end < 2; ++end) {
        const T t = end == 0 ? box.low[0] : box.high[0];
        const T ct = f.c[0] + t * f.c[1], at_t = f.a[0] + t * f.a[1], bt = f.b[0] + t * f.b[1];
        for (int i = 0; i < at.count; ++i) {
          const T value = ct + at.u[i] * at_t + at.v[i] * bt;
          low = value < low ? value : low;
          high = value > high ? value : high;
        }
      }
      const T away = (low > -high ? low : -high) - f.noise;
      if (away > floor) return false;
      if (k < 3 && away > T(0)) d2 += away * away;
    }
    constexpr T room = T(1) + T(16) * std::numeric_limits<T>::epsilon();
    return !(d2 > room * floor * floor) || !(d2 > std::numeric_limits<T>::min());
  }

  /// How much a coordinate of F changes along each side of the box, at most.
  SS_HD constexpr Vec<T, 3> widths(const Box<T>& box) const {
    T change[3] = {T(0), T(0), T(0)};
    for (int k = 0; k < 3; ++k) {
      for (int corner = 0; corner < 4; ++corner) {
        const T u = corner & 1 ? box.high[1] : box.low[1], v = corner & 2 ? box.high[2] : box.low[2];
        const T rate = std::abs(c[1][k] + u * a[1][k] + v * b[1][k]);
        change[0] = rate > change[0] ? rate : change[0];
      }
      for (int end = 0; end < 2; ++end) {
        const T t = end == 0 ? box.low[0] : box.high[0];
        const T along_u = std::abs(a[0][k] + t * a[1][k]), along_v = std::abs(b[0][k] + t * b[1][k]);
        change[1] = along_u > change[1] ? along_u : change[1];
        change[2] = along_v > change[2] ? along_v : change[2];
      }
    }
    Vec<T, 3> width{};
    for (int k = 0; k < 3; ++k) width[k] = (box.high[k] - box.low[k]) * change[k];
    return width;
  }
};

/// Of corners x + t p relative to corner 0; without what is tested.
template <class T>
SS_HD constexpr MovingGap<T> moving_gap(const PointTriangle<T>& pair) {
  MovingGap<T> gap{};
  const auto set = [](const Vec<T, 3>(&y)[4], Vec<T, 3>& c, Vec<T, 3>& a, Vec<T, 3>& b) {
    c = y[0] - y[1], a = y[1] - y[2], b = y[1] - y[3];
  };
  set(pair.x, gap.c[0], gap.a[0], gap.b[0]);
  set(pair.p, gap.c[1], gap.a[1], gap.b[1]);
  gap.triangle = true;
  return gap;
}
template <class T>
SS_HD constexpr MovingGap<T> moving_gap(const EdgeEdge<T>& pair) {
  MovingGap<T> gap{};
  const auto set = [](const Vec<T, 3>(&y)[4], Vec<T, 3>& c, Vec<T, 3>& a, Vec<T, 3>& b) {
    c = y[0] - y[2], a = y[1] - y[0], b = y[2] - y[3];
  };
  set(pair.x, gap.c[0], gap.a[0], gap.b[0]);
  set(pair.p, gap.c[1], gap.a[1], gap.b[1]);
  return gap;
}

/// Boxes by their earliest time: a binary heap in place.
template <class T>
class Queue {
 public:
  static constexpr int kMost = 32;

  SS_HD bool empty() const { return count_ == 0; }
  /// Where all places are taken the latest box, this one or another, is given up: returns its earliest time,
  /// else 2.
  SS_HD T push(const Box<T>& box) {
    if (count_ < kMost) {
      rise(count_++, box);
      return T(2);
    }
    int latest = kMost / 2;
    for (int i = latest + 1; i < kMost; ++i)
      if (boxes_[i].low[0] > boxes_[latest].low[0]) latest = i;
    if (!(box.low[0] < boxes_[latest].low[0])) return box.low[0];
    const T lost = boxes_[latest].low[0];
    rise(latest, box);
    return lost;
  }
  SS_HD Box<T> pop() {
    const Box<T> first = boxes_[0], last = boxes_[--count_];
    int hole = 0;
    for (int child = 1; child < count_; child = 2 * hole + 1) {
      if (child + 1 < count_ && before(boxes_[child + 1], boxes_[child])) ++child;
      if (!before(boxes_[child], last)) break;
      boxes_[hole] = boxes_[child];
      hole = child;
    }
    boxes_[hole] = last;
    return first;
  }

 private:
  /// Of equal times the smaller box: the one that is nearer to an answer.
  SS_HD static bool before(const Box<T>& a, const Box<T>& b) {
    if (a.low[0] != b.low[0]) return a.low[0] < b.low[0];
    return a.high[1] - a.low[1] + (a.high[2] - a.low[2]) < b.high[1] - b.low[1] + (b.high[2] - b.low[2]);
  }
  SS_HD void rise(int hole, const Box<T>& box) {
    for (; hole > 0 && before(box, boxes_[(hole - 1) / 2]); hole = (hole - 1) / 2)
      boxes_[hole] = boxes_[(hole - 1) / 2];
    boxes_[hole] = box;
  }

  Box<T> boxes_[kMost];
  int count_ = 0;
};

/// The pair stays apart on [0, time), and up to the end unless it stopped.
template <class T>
struct SearchEnd {
  T time;
  bool stopped;
};

/// From time `from` on. Method::narrow(gap, tolerance, box) shrinks a box, and returns whether it is left.
template <class Method, class Pair, class T>
SS_HD_LARGE inline SearchEnd<T> first_root(const Pair& pair, const MovingGap<T>& gap, T tolerance, T from) {
  Queue<T> queue;
  queue.push({{from, T(0), T(0)}, {T(1), T(1), T(1)}});
  T lost = T(2), tested = T(-1);
  for (int n = 0; !queue.empty(); ++n) {
    Box<T> box = queue.pop();
    if (box.low[0] >= lost) break;
    if (n == Method::kMostBoxes) return {box.low[0], true};
    if (box.low[0] > tested) {
      tested = box.low[0];
      if (distance_at(pair, tested) <= gap.floor + tolerance) return {tested, true};
    }
    if (!Method::narrow(gap, tolerance, box)) continue;
    const Vec<T, 3> width = gap.widths(box);
    int widest = 0;
    for (int k = 1; k < 3; ++k)
      if (width[k] > width[widest]) widest = k;
    const T middle = box.low[widest] + T(0.5) * (box.high[widest] - box.low[widest]);
    if (!(width[widest] > tolerance) || !(middle > box.low[widest] && middle < box.high[widest])) {
      lost = box.low[0] < lost ? box.low[0] : lost;
      continue;
    }
    Box<T> half = box;
    half.high[widest] = box.low[widest] = middle;
    const T given_up = queue.push(half), given_up_too = queue.push(box);
    lost = given_up < lost ? given_up : lost;
    lost = given_up_too < lost ? given_up_too : lost;
  }
  return lost > T(1) ? SearchEnd<T>{T(1), false} : SearchEnd<T>{lost, true};
}

/// The pair relative to corner 0, its motion within t_max, and how far coordinates reach.
template <class Pair, class T>
struct Relative {
  Pair pair{};
  T reach = T(0), reach_relative = T(0);

  SS_HD Relative(const Pair& given, T t_max) {
    for (int i = 0; i < 4; ++i) {
      pair.x[i] = given.x[i] - given.x[0];
      pair.p[i] = t_max * (given.p[i] - given.p[0]);
      reach = larger_reach(given.x[i], t_max * given.p[i], reach);
      reach_relative = larger_reach(pair.x[i], pair.p[i], reach_relative);
    }
  }
  SS_HD T noise() const {
    return T(80) * std::numeric_limits<T>::epsilon() * reach_relative + std::numeric_limits<T>::min();
  }
  SS_HD MovingGap<T> gap(const Vec<T, 3>& normal, T floor) const {
    MovingGap<T> gap = moving_gap(pair);
    gap.floor = floor;
    gap.noise = noise();
    const T noise_of_axis =
        T(32) * std::numeric_limits<T>::epsilon() * reach_relative + std::numeric_limits<T>::min();
    for (int k = 0; k < 3; ++k)
      gap.tested[k] = {
          {gap.c[0][k], gap.c[1][k]}, {gap.a[0][k], gap.a[1][k]}, {gap.b[0][k], gap.b[1][k]}, noise_of_axis};
    gap.tested[3] = gap.along(normal);
    return gap;
  }
};

/// The first contact of corners x + t p on [0, t_max]. A pair that touches at t = 0 stopped there.
template <class Method, class Pair, class T>
SS_HD inline SearchEnd<T> first_contact(const Pair& pair, T t_max) {
  const Relative<Pair, T> seen(pair, t_max);
  const auto closest = Pair::closest(seen.pair.x);
  if (!(closest.d2 > std::numeric_limits<T>::min())) return {T(0), true};
  const MovingGap<T> gap = seen.gap(normalized(closest.r), T(0));
  const T tolerance = Method::template tolerance<T>() * seen.reach_relative;
  const SearchEnd<T> end = first_root<Method>(seen.pair, gap, tolerance, T(0));
  return {end.time * t_max, end.stopped};
}

/// additive::toi by another method. The tolerance is a share of what a step may use of the gap. A pair closer
/// than rounding can tell is left to `additive`.
template <class Method, class Pair, class T>
SS_HD inline T toi(const Pair& pair, T kept, T t_max, T thickness) {
  const Relative<Pair, T> seen(pair, t_max);
  const auto closest = Pair::closest(seen.pair.x);
  if (!(closest.d2 > std::numeric_limits<T>::min())) return T(0);
  const T distance = std::sqrt(closest.d2), free = distance - thickness;
  const T floor = thickness + kept * (free > T(0) ? free : T(0)) + storage_rounding(seen.reach);
  if (!(distance > floor + T(2) * seen.noise())) return additive::toi(pair, kept, t_max, thickness);
  const Vec<T, 3> normal = normalized(closest.r);
  // Whatever ends the search, the first step along the normal is certain.
  const T first = additive::advance<Pair>(seen.pair.x, seen.pair.p, normal, floor + seen.noise(), T(1)).step;
  if (!(first < T(1))) return t_max;
  const T share = (T(1) - kept) * free / T(32), least = T(2) * seen.noise();
  const SearchEnd<T> end = first_root<Method>(seen.pair, seen.gap(normal, floor),
                                              share > least ? share : least, first > T(0) ? first : T(0));
  return end.stopped ? end.time * t_max : t_max;
}

/// additive::may_touch by another method.
template <class Method, class Pair, class T>
SS_HD inline bool may_touch(const Vec<T, 3> (&start)[4], const Vec<T, 3> (&end)[4]) {
  const Parted parted = parted_by_axis<Pair>(start, end);
  if (parted == Parted::always) return false;
  if (parted == Parted::inside) return !additive::apart<Pair>(start) || !additive::apart<Pair>(end);
  return first_contact<Method>(swept_pair<Pair>(start, end), T(1)).stopped;
}

}  // namespace stickslip::box_search
