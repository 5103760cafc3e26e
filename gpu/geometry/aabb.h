// Axis-aligned boxes.
#pragma once

#include <limits>

#include "gpu/math/vec.h"

namespace stickslip {

template <class T>
struct AabbT {
  Vec<T, 3> lo, hi;

  /// The neutral element of merge: contains nothing and overlaps nothing.
  SS_HD static constexpr AabbT empty() {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    return {Vec<T, 3>::filled(infinity), Vec<T, 3>::filled(-infinity)};
  }
  SS_HD static constexpr AabbT of(const Vec<T, 3>& point) { return {point, point}; }

  SS_HD constexpr bool is_empty() const { return !(lo[0] <= hi[0] && lo[1] <= hi[1] && lo[2] <= hi[2]); }
  SS_HD constexpr Vec<T, 3> center() const { return T(0.5) * (lo + hi); }
  SS_HD constexpr Vec<T, 3> extent() const { return hi - lo; }
};
using Aabb = AabbT<Real>;

template <class T>
SS_HD constexpr AabbT<T> merge(const AabbT<T>& a, const AabbT<T>& b) {
  return {min(a.lo, b.lo), max(a.hi, b.hi)};
}
template <class T>
SS_HD constexpr AabbT<T> merge(const AabbT<T>& a, const Vec<T, 3>& point) {
  return {min(a.lo, point), max(a.hi, point)};
}
/// The box grown by `margin` on every side; an empty box stays empty.
template <class T>
SS_HD constexpr AabbT<T> inflate(const AabbT<T>& a, T margin) {
  return {a.lo - Vec<T, 3>::filled(margin), a.hi + Vec<T, 3>::filled(margin)};
}
/// Closed boxes: touching counts.
template <class T>
SS_HD constexpr bool overlaps(const AabbT<T>& a, const AabbT<T>& b) {
  return a.lo[0] <= b.hi[0] && b.lo[0] <= a.hi[0] && a.lo[1] <= b.hi[1] && b.lo[1] <= a.hi[1] &&
         a.lo[2] <= b.hi[2] && b.lo[2] <= a.hi[2];
}
template <class T>
SS_HD constexpr bool contains(const AabbT<T>& a, const Vec<T, 3>& point) {
  return overlaps(a, AabbT<T>::of(point));
}

}  // namespace stickslip
