// Contact points while they are collected, and the polygons that they are cut from.
#pragma once

#include "gpu/geometry/convex.h"
#include "gpu/geometry/manifold_reduce.h"

namespace stickslip::narrow {

/// 32 bits of two numbers; different pairs collide with a probability of 2^-32.
SS_HD inline std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t h = a * 0x9E3779B1u;
  h ^= h >> 15;
  h = (h ^ b) * 0x85EBCA77u;
  h ^= h >> 13;
  h *= 0xC2B2AE3Du;
  return h ^ h >> 16;
}
/// The same for (a, b) and (b, a).
SS_HD inline std::uint32_t mix_unordered(std::uint32_t a, std::uint32_t b) {
  return a < b ? mix(a, b) : mix(b, a);
}

/// Collects any number of points; when there is no room, the points that `manifold_reduce.h` ranks highest
/// stay.
template <int Room>
struct PointsOf {
  static constexpr int kRoom = Room;
  V3 normal;
  int count;
  ManifoldPoint points[kRoom];

  SS_HD void add(const V3& point, double gap, std::uint32_t feature) {
    if (count == kRoom) count = reduce_points(points, count, normal, Manifold::kMost);
    points[count++] = {point, gap, feature};
  }
};

using PointList = PointsOf<24>;

SS_HD inline Manifold no_contact() {
  Manifold m;
  m.normal = {0, 1, 0};
  m.count = 0;
  return m;
}
SS_HD inline Manifold one_point(const V3& normal, const V3& point, double gap, std::uint32_t feature) {
  Manifold m;
  m.normal = normal;
  m.count = 1;
  m.points[0] = {point, gap, feature};
  return m;
}
template <int Room>
SS_HD inline void set_manifold(Manifold& m, PointsOf<Room>& list) {
  m.normal = list.normal;
  m.count = reduce_points(list.points, list.count, list.normal, Manifold::kMost);
  for (int i = 0; i < m.count; ++i) m.points[i] = list.points[i];
}
template <int Room>
SS_HD inline Manifold to_manifold(PointsOf<Room>& list) {
  Manifold m;
  set_manifold(m, list);
  return m;
}

/// A corner of a convex polygon and the names of the edges that come in and go out. The ends of a segment
/// (two corners) bear its name between them, and their own outside.
struct Corner {
  V3 p;
  std::uint32_t in, out;
};
template <int Room>
struct PolygonOf {
  static constexpr int kRoom = Room;
  int count;
  Corner corners[kRoom];
};
inline constexpr int kMostFaceCorners = 24;  // corners that a face may have; more are thinned out evenly
using Polygon = PolygonOf<32>;

/// Keeps the part where dot(normal, x) <= offset; what is cut is named by `edge`. In place: the corners move
/// to the end first, and those that stay or are new come to the front, one more than were there at most. A
/// corner without room is left out.
template <int Room>
SS_HD_LARGE inline void cut(PolygonOf<Room>& polygon, const V3& normal, double offset, std::uint32_t edge,
                            double tolerance) {
  const int corners = polygon.count, moved = Room - corners;
  bool all = true;
  for (int i = 0; i < corners; ++i) all = all && dot(normal, polygon.corners[i].p) - offset <= tolerance;
  if (all) return;
  for (int i = corners - 1; i >= 0; --i) polygon.corners[moved + i] = polygon.corners[i];
  // A segment is walked once, a polygon around.
  const int sides = corners > 2 ? corners : corners - 1;
  const Corner first = polygon.corners[moved];
  Corner from = first;
  double height = dot(normal, from.p) - offset;
  int count = 0;
  for (int i = 0; i < corners; ++i) {
    const Corner to = i + 1 < corners ? polygon.corners[moved + i + 1] : first;
    const double next = dot(normal, to.p) - offset;
    const bool inside = height <= tolerance, next_inside = next <= tolerance;
    const int last_free = moved + i + (i + 1 < corners ? 1 : 0);  // `to` is kept
    if (inside && count <= last_free) polygon.corners[count++] = from;
    if (i < sides && inside != next_inside && count <= last_free) {
      const double t = height / (height - next);
      const V3 p = from.p + (t < 0 ? 0.0 : t > 1 ? 1.0 : t) * (to.p - from.p);
      polygon.corners[count++] = inside ? Corner{p, from.out, edge} : Corner{p, edge, from.out};
    }
    from = to, height = next;
  }
  polygon.count = count;
}

}  // namespace stickslip::narrow
