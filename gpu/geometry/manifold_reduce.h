// Which points of a manifold are kept: the deepest, and those that span the most area.
#pragma once

#include "gpu/core/out_of_line.h"
#include "gpu/geometry/shape.h"

namespace stickslip {

namespace narrow {

/// A chosen subset as a polygon that turns left about the normal.
struct Outline {
  std::int32_t corner[Manifold::kMost];
  int count;
  std::uint32_t chosen;  // bit i: point i is among them

  SS_HD void insert(int at, std::int32_t point) {
    for (int i = count; i > at; --i) corner[i] = corner[i - 1];
    corner[at] = point;
    ++count;
    chosen |= 1u << point;
  }
  SS_HD bool has(std::int32_t point) const { return chosen >> point & 1u; }
};

/// Adds the point that widens the outline most, or the deepest one when none does.
SS_HD inline void widen(const ManifoldPoint* points, int count, const Vec<double, 3>& n, Outline& outline) {
  double best = 0;
  int widest = -1, at = 0;
  for (int k = 0; k < outline.count; ++k) {
    const auto& from = points[outline.corner[k]].point;
    const auto& to = points[outline.corner[k + 1 < outline.count ? k + 1 : 0]].point;
    // dot(p - from, out) is twice the area that p adds beyond this side.
    const auto out = cross(to - from, n);
    const double offset = dot(from, out);
    for (int i = 0; i < count; ++i) {
      const double area = dot(points[i].point, out) - offset;
      // By a little more than rounding: equal areas leave the choice to the order of the points.
      if (area > best * (1 + 1e-6) && !outline.has(i)) best = area, widest = i, at = k + 1;
    }
  }
  if (widest >= 0) return outline.insert(at, widest);
  int deepest = -1;
  for (int i = 0; i < count; ++i)
    if (!outline.has(i) && (deepest < 0 || points[i].gap < points[deepest].gap)) deepest = i;
  outline.insert(outline.count, deepest);
}

/// Moves the `most` points that matter to the front, in their old order; returns how many those are. At most
/// 32 points. The deepest is the first one within 1e-4 of the points' extent of the least gap, so that noise
/// does not choose.
SS_HD_LARGE inline int reduce_points(ManifoldPoint* points, int count, const Vec<double, 3>& n, int most) {
  if (count <= most) return count;
  double least = points[0].gap, extent2 = 0;
  for (int i = 1; i < count; ++i) {
    least = points[i].gap < least ? points[i].gap : least;
    const double d2 = norm2(points[i].point - points[0].point);
    extent2 = d2 > extent2 ? d2 : extent2;
  }
  const double limit = least + 1e-4 * std::sqrt(extent2);
  Outline outline;
  outline.count = 0, outline.chosen = 0;
  for (int i = 0; outline.count == 0; ++i)
    if (points[i].gap <= limit) outline.insert(0, i);
  if (most > 1) {
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
