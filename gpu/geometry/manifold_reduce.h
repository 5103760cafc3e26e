// Which points of a manifold matter: the deepest, and those that span the most area.
#pragma once

#include "gpu/geometry/shape.h"

namespace stickslip {

namespace narrow {

/// Twice the area that point p adds to the polygon's side from a to b, seen along n.
SS_HD inline double area_beyond(const Vec<double, 3>& a, const Vec<double, 3>& b, const Vec<double, 3>& p,
                                const Vec<double, 3>& n) {
  return dot(n, cross(p - a, b - a));
}

/// A chosen subset as a polygon that turns left about the normal.
struct Outline {
  std::int32_t corner[Manifold::kMost];
  int count;

  SS_HD void insert(int at, std::int32_t point) {
    for (int i = count; i > at; --i) corner[i] = corner[i - 1];
    corner[at] = point;
    ++count;
  }
  SS_HD bool has(std::int32_t point) const {
    for (int i = 0; i < count; ++i)
      if (corner[i] == point) return true;
    return false;
  }
};

/// Adds the point that widens the outline most, or the deepest one when none does.
SS_HD inline void widen(const ManifoldPoint* points, int count, const Vec<double, 3>& n, Outline& outline) {
  double best = 0;
  int chosen = -1, at = 0, deepest = -1;
  for (int i = 0; i < count; ++i) {
    if (outline.has(i)) continue;
    if (deepest < 0 || points[i].gap < points[deepest].gap) deepest = i;
    for (int k = 0; k < outline.count; ++k) {
      const auto& a = points[outline.corner[k]].point;
      const auto& b = points[outline.corner[k + 1 < outline.count ? k + 1 : 0]].point;
      const double area = area_beyond(a, b, points[i].point, n);
      // By a little more than rounding: equal areas leave the choice to the order of the points.
      if (area > best * (1 + 1e-6)) best = area, chosen = i, at = k + 1;
    }
  }
  outline.insert(chosen < 0 ? outline.count : at, chosen < 0 ? deepest : chosen);
}

/// Moves the `most` points that matter to the front, in their old order; returns how many those are.
/// The deepest is the first one within 1e-4 of the points' extent of the least gap, so that noise does not
/// choose.
SS_HD inline int reduce_points(ManifoldPoint* points, int count, const Vec<double, 3>& n, int most) {
  if (count <= most) return count;
  double least = points[0].gap, extent2 = 0;
  for (int i = 1; i < count; ++i) {
    least = points[i].gap < least ? points[i].gap : least;
    const double d2 = norm2(points[i].point - points[0].point);
    extent2 = d2 > extent2 ? d2 : extent2;
  }
  const double limit = least + 1e-4 * std::sqrt(extent2);
  Outline outline{};
  for (int i = 0; outline.count == 0; ++i)
    if (points[i].gap <= limit) outline.insert(0, i);
  if (most > 1) {  // the farthest
    double best = -1;
    int far = 0;
    for (int i = 0; i < count; ++i) {
      if (outline.has(i)) continue;
      const double d2 = norm2(points[i].point - points[outline.corner[0]].point);
      if (d2 > best * (1 + 1e-6)) best = d2, far = i;
    }
    outline.insert(1, far);
  }
  while (outline.count < most && outline.count < Manifold::kMost) widen(points, count, n, outline);
  int kept = 0;
  for (int i = 0; i < count; ++i)
    if (outline.has(i)) points[kept++] = points[i];
  return kept;
}

}  // namespace narrow

/// Keeps at most `most` points (1 to kMost): the deepest, the one farthest from it, then those that widen the
/// polygon most; what is kept stays in its order. Depends on the points and their order alone.
SS_HD inline void reduce_manifold(Manifold& m, int most) {
  if (m.count > most) m.count = narrow::reduce_points(m.points, m.count, m.normal, most);
}

}  // namespace stickslip
