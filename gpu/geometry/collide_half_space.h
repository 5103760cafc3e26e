// Convex shapes against a half-space: the vertices or rim points that are near.
#pragma once

#include "gpu/geometry/manifold_points.h"

namespace stickslip::narrow {

/// Side b is dot(n, x) <= offset.
struct HalfSpace {
  V3 n;
  double offset;

  SS_HD double gap(const V3& p) const { return dot(n, p) - offset; }
};

/// A point of the core, with the radius around it.
SS_HD inline void add_core_point(const Convex& c, const HalfSpace& h, const V3& p, std::uint32_t name,
                                 double margin, PointList& list) {
  const double gap = h.gap(p) - c.radius;
  if (gap <= margin) list.add(p - (0.5 * gap + c.radius) * h.n, gap, name);
}

/// Of the lower cap four points, the first where it is lowest; of the other cap the lowest one. A flat
/// cap's points stand still on it.
SS_HD inline void add_cylinder_points(const Convex& c, const HalfSpace& h, double margin, PointList& list) {
  const V3 axis = c.r.column(1);
  const Vec<double, 2> lowest = rim_direction(c, -h.n);
  const int lower = dot(axis, h.n) > 0 ? 1 : 0;
  double x = c.size[0] * lowest[0], z = c.size[0] * lowest[1];
  for (int k = 0; k < 5; ++k) {
    const int cap = k < 4 ? lower : 1 - lower, turn = k < 4 ? k : 0;
    const V3 p = c.x + c.r * V3{x, cap ? -c.size[1] : c.size[1], z};
    add_core_point(c, h, p, static_cast<std::uint32_t>(cap * 4 + turn), margin, list);
    const double old = x;
    x = z, z = -old;
  }
}

SS_HD_LARGE inline Manifold convex_on_half_space(const Convex& c, const HalfSpace& h, double margin) {
  PointList list;
  list.normal = h.n;
  list.count = 0;
  if (c.kind == ShapeKind::cylinder) {
    add_cylinder_points(c, h, margin, list);
    return to_manifold(list);
  }
  const std::int32_t count = c.kind == ShapeKind::sphere    ? 1
                             : c.kind == ShapeKind::capsule ? 2
                             : c.kind == ShapeKind::box     ? 8
                                                            : c.hull->vertex_count;
  for (std::int32_t i = 0; i < count; ++i) {
    V3 local{0, 0, 0};
    if (c.kind == ShapeKind::capsule) local[1] = i ? -c.size[1] : c.size[1];
    if (c.kind == ShapeKind::box)
      local = {i & 1 ? -c.size[0] : c.size[0], i & 2 ? -c.size[1] : c.size[1],
               i & 4 ? -c.size[2] : c.size[2]};
    if (c.kind == ShapeKind::hull) local = c.hull->vertices[i];
    add_core_point(c, h, c.x + c.r * local, static_cast<std::uint32_t>(i), margin, list);
  }
  return to_manifold(list);
}

}  // namespace stickslip::narrow
