// Whether a segment intersects a triangle, by exact orientation signs: the answer is correct for the given
// coordinates.
#pragma once

#include <limits>

#include "gpu/geometry/expansion.h"
#include "gpu/math/vec.h"

namespace stickslip {

namespace exact {

using Point = Vec<double, 3>;

// Half an ulp of 1. The bounds of the two filters are ccwerrboundA and o3derrboundA of [Shewchuk97 §4].
inline constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;

SS_HD constexpr int sign_of(double x) { return (x > 0.0) - (x < 0.0); }

/// What rounding took from a - b.
SS_HD inline Point difference_error(const Point& a, const Point& b) {
  Point error{};
  for (int i = 0; i < 3; ++i) error[i] = exact_sum(a[i], -b[i]).error;
  return error;
}

/// Sign of (b - a) x (c - a) in the plane of coordinates i and j: 1 when a, b, c turn left.
SS_HD inline int orientation2(const Point& a, const Point& b, const Point& c, int i, int j) {
  const double left = (a[i] - c[i]) * (b[j] - c[j]), right = (a[j] - c[j]) * (b[i] - c[i]);
  const double det = left - right, bound = (3 + 16 * kUnit) * kUnit * (std::abs(left) + std::abs(right));
  if (std::abs(det) > bound) return sign_of(det);
  if (bound == 0) return 0;  // both products have a factor that is exactly zero
  Expansion<12> sum;
  sum.add_product(a[i], b[j]);
  sum.add_product(-a[i], c[j]);
  sum.add_product(-c[i], b[j]);
  sum.add_product(-a[j], b[i]);
  sum.add_product(a[j], c[i]);
  sum.add_product(c[j], b[i]);
  return sum.sign();
}

template <int capacity>
SS_HD inline void add_determinant(Expansion<capacity>& sum, double factor, const Point& a, const Point& b,
                                  const Point& c) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum.add_product(factor * a[i], b[j], c[k]);
    sum.add_product(-factor * a[i], b[k], c[j]);
  }
}

/// Sign of the volume (a - d) . (b - d) x (c - d). Differences are mostly exact, or off by so little that a
/// correction of first order decides; only points of one plane with coordinates of many digits need more.
SS_HD inline int orientation3(const Point& a, const Point& b, const Point& c, const Point& d) {
  const Point ad = a - d, bd = b - d, cd = c - d;
  double det = 0, permanent = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double left = bd[j] * cd[k], right = bd[k] * cd[j];
    det += ad[i] * (left - right);
    permanent += std::abs(ad[i]) * (std::abs(left) + std::abs(right));
  }
  if (std::abs(det) > (7 + 56 * kUnit) * kUnit * permanent) return sign_of(det);
  if (permanent == 0) return 0;  // every product has a factor that is exactly zero
  Expansion<24> differences;
  add_determinant(differences, 1, ad, bd, cd);
  const Point ae = difference_error(a, d), be = difference_error(b, d), ce = difference_error(c, d);
  if (ae == Point::zero() && be == Point::zero() && ce == Point::zero()) return differences.sign();
  // With |ae| <= kUnit |ad| and so on: second order 3 kUnit^2, rounding of the first order 27 kUnit^2.
  const double first = differences.estimate();
  const double second = dot(ae, cross(bd, cd)) + dot(be, cross(cd, ad)) + dot(ce, cross(ad, bd));
  const double corrected = first + second;
  if (std::abs(corrected) > 4 * kUnit * std::abs(first) + 64 * kUnit * kUnit * permanent)
    return sign_of(corrected);
  Expansion<96> sum;
  add_determinant(sum, 1, a, b, c);
  add_determinant(sum, -1, d, b, c);
  add_determinant(sum, -1, a, d, c);
  add_determinant(sum, -1, a, b, d);
  return sum.sign();
}

SS_HD constexpr bool intervals_overlap(double a0, double a1, double b0, double b1) {
  return !(a0 < b0 && a0 < b1 && a1 < b0 && a1 < b1) && !(a0 > b0 && a0 > b1 && a1 > b0 && a1 > b1);
}

/// Closed segments in the plane of coordinates i and j.
SS_HD inline bool segments_intersect(const Point& a, const Point& b, const Point& c, const Point& d, int i,
                                     int j) {
  if (!intervals_overlap(a[i], b[i], c[i], d[i]) || !intervals_overlap(a[j], b[j], c[j], d[j])) return false;
  const int ca = orientation2(c, d, a, i, j), cb = orientation2(c, d, b, i, j);
  const int ac = orientation2(a, b, c, i, j), ad = orientation2(a, b, d, i, j);
  // On one line they intersect because their intervals do.
  return ca * cb <= 0 && ac * ad <= 0;
}

/// All of one sign, zeros allowed, but not all zero.
SS_HD constexpr bool same_side(int s0, int s1, int s2) {
  return (s0 >= 0 && s1 >= 0 && s2 >= 0) != (s0 <= 0 && s1 <= 0 && s2 <= 0);
}

SS_HD inline bool intersect_in_plane(const Point& a, const Point& b, const Point (&t)[3], int i, int j) {
  for (int k = 0; k < 3; ++k)
    if (segments_intersect(a, b, t[k], t[(k + 1) % 3], i, j)) return true;
  return same_side(orientation2(t[0], t[1], a, i, j), orientation2(t[1], t[2], a, i, j),
                   orientation2(t[2], t[0], a, i, j));
}

}  // namespace exact

/// Whether the closed segment ab and the closed triangle have a point in common. Exact for five points in
/// general or in one plane; for a triangle without area that does not share a plane with the segment it errs
/// on the side of true.
template <class T>
SS_HD inline bool segment_intersects_triangle(const Vec<T, 3>& segment_a, const Vec<T, 3>& segment_b,
                                              const Vec<T, 3>& t0, const Vec<T, 3>& t1, const Vec<T, 3>& t2) {
  using namespace exact;
  const Point a = segment_a.template cast<double>(), b = segment_b.template cast<double>();
  const Point t[3] = {t0.template cast<double>(), t1.template cast<double>(), t2.template cast<double>()};
  const int side_a = orientation3(t[0], t[1], t[2], a), side_b = orientation3(t[0], t[1], t[2], b);
  if (side_a * side_b > 0) return false;
  if (side_a == 0 && side_b == 0) {
    // In a common plane. Its projection along some axis is one to one, and common points show in every
    // projection.
    return intersect_in_plane(a, b, t, 0, 1) && intersect_in_plane(a, b, t, 1, 2) &&
           intersect_in_plane(a, b, t, 2, 0);
  }
  return same_side(orientation3(a, b, t[0], t[1]), orientation3(a, b, t[1], t[2]),
                   orientation3(a, b, t[2], t[0]));
}

}  // namespace stickslip
