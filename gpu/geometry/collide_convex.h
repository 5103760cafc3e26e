// Contact of any two convex shapes: the nearest features when their cores are apart, the shallowest way out
// when they overlap; then the polygon that a face shares with the other shape.
#pragma once

#include "gpu/geometry/convex_features.h"
#include "gpu/geometry/gjk.h"

namespace stickslip::narrow {

/// The best of several directions along which b may be left.
struct Way {
  V3 normal;
  double s;  // [m] separation along it, cores only

  SS_HD void offer(const Convex& a, const Convex& b, V3 n) {
    const double length2 = norm2(n);
    if (!(length2 > 1e-20)) return;
    n = n / std::sqrt(length2);
    const double along = separation(a, b, n);
    if (along > s) s = along, normal = n;
  }
};

SS_HD inline std::int32_t edge_directions(const Convex& c) {
  return c.kind == ShapeKind::box ? 3 : c.kind == ShapeKind::hull ? c.hull->edge_count : 1;
}
SS_HD inline V3 edge_direction(const Convex& c, std::int32_t e) {
  if (c.kind == ShapeKind::box) return c.r.column(e);
  if (c.kind != ShapeKind::hull) return c.r.column(1);
  const Vec<std::int32_t, 2> ends = c.hull->edges[e];
  return c.r * (c.hull->vertices[ends[1]] - c.hull->vertices[ends[0]]);
}

/// Ways across the axis of a capsule or cylinder and the edges of the other shape.
SS_HD inline void offer_axis_ways(const Convex& a, const Convex& b, const Convex& lengthwise,
                                  const Convex& other, Way& way) {
  if (lengthwise.kind != ShapeKind::capsule && lengthwise.kind != ShapeKind::cylinder) return;
  const V3 axis = lengthwise.r.column(1), apart = a.x - b.x;
  way.offer(a, b, apart - dot(apart, axis) * axis);
  for (std::int32_t e = 0; e < edge_directions(other); ++e) {
    const V3 n = cross(axis, edge_direction(other, e));
    way.offer(a, b, dot(n, apart) < 0 ? -n : n);
  }
}

/// The shallowest way out among faces, axes and the line of centres, then followed downhill: with a pushed
/// out along the way found so far and a little further, the direction of the nearest points leads out at
/// most as deep, and is kept only where the depth is stationary. That is the least depth near the best of
/// those seeds, exact; between polyhedra in deep overlap two edges elsewhere may leave a shallower one.
SS_HD inline Nearest penetration(const Convex& a, const Convex& b) {
  Way way{{0, 1, 0}, separation(a, b, {0, 1, 0})};
  way.offer(a, b, a.x - b.x);
  for (std::int32_t f = 0; f < face_count(a); ++f) way.offer(a, b, -face_normal(a, f));
  for (std::int32_t f = 0; f < face_count(b); ++f) way.offer(a, b, face_normal(b, f));
  offer_axis_ways(a, b, a, b, way);
  offer_axis_ways(a, b, b, a, way);
  const double scale = reach(a) + reach(b), further = 1e-3 * scale;
  Nearest result{false, way.s, way.normal, a.x, b.x, 0};
  for (int round = 0; round < 32; ++round) {
    const V3 shift = (further - way.s) * way.normal;
    const Nearest next = nearest_points(a, b, shift, 4 * scale, 0);
    if (!next.apart) break;
    const double s = next.distance - dot(shift, next.normal);
    const bool better = s > way.s + 1e-13 * scale;
    if (s >= way.s) way = {next.normal, s};
    result = {false, way.s, way.normal, next.on_a - shift, next.on_b, next.feature};
    if (!better) break;
  }
  return result;
}

/// Halfway between the surfaces, of points on the two cores.
SS_HD inline V3 midway(const Convex& a, const Convex& b, const V3& on_a, const V3& on_b, const V3& n) {
  return 0.5 * (on_a + on_b) + (0.5 * (b.radius - a.radius)) * n;
}

/// Which face meets which shape, and how near it must come.
struct FacePair {
  std::int32_t face;
  V3 normal;  // of the face, outward
  double offset, s;
  std::uint32_t side;  // of the shape that has the face: 0: a, 1: b
};

SS_HD inline FacePair face_pair(const Convex& c, const Convex& other, const V3& toward, std::uint32_t side) {
  FacePair p{best_face(c, toward), toward, 0, -1e300, side};
  if (p.face < 0) return p;
  p.normal = face_normal(c, p.face);
  p.offset = face_offset(c, p.face, p.normal);
  p.s = dot(p.normal, support(other, -p.normal)) - p.offset;
  return p;
}

/// The other shape's polygon over the face. False: nothing of it is there as near as `deepest`.
SS_HD inline bool face_contact(const Convex& c, const Convex& other, const FacePair& p, double deepest,
                               double margin, PointList& list) {
  Polygon base, over;
  face_polygon(c, p.face, p.normal, p.side, base);
  incident_polygon(other, -p.normal, 1 - p.side, over);
  const double tc = thickness(c), to = thickness(other), tolerance = 1e-4 * (tc < to ? tc : to);
  for (int i = 0; i < base.count && over.count > 0; ++i) {
    const Corner &from = base.corners[i], &to = base.corners[i + 1 < base.count ? i + 1 : 0];
    const V3 out = normalized(cross(to.p - from.p, p.normal));
    cut(over, out, dot(out, from.p), from.out, tolerance);
  }
  double least = 1e300;
  list.normal = p.side == 0 ? -p.normal : p.normal;
  list.count = 0;
  const double radius = c.radius + other.radius;
  for (int i = 0; i < over.count; ++i) {
    const Corner& q = over.corners[i];
    const double height = dot(p.normal, q.p) - p.offset;
    if (height < least) least = height;
    if (height - radius <= margin)
      list.add(q.p + (0.5 * (c.radius - other.radius - height)) * p.normal, height - radius,
               mix_unordered(q.in, q.out));
  }
  return list.count > 0 && least <= deepest;
}

/// Two straight edges side by side touch at the ends of what they share.
SS_HD inline bool edge_contact(const Convex& a, const Convex& b, const Nearest& near, double slack,
                               double margin, PointList& list) {
  Polygon ea, eb;
  const V3& n = near.normal;
  if (!incident_edge(a, -n, 0, ea) || !incident_edge(b, n, 1, eb)) return false;
  const V3 da = ea.corners[1].p - ea.corners[0].p, e = normalized(eb.corners[1].p - eb.corners[0].p);
  if (!(norm2(cross(da, e)) < 1e-4 * norm2(da))) return false;
  cut(ea, e, dot(e, eb.corners[1].p), eb.corners[1].out, 0);
  cut(ea, -e, -dot(e, eb.corners[0].p), eb.corners[0].in, 0);
  list.normal = n;
  list.count = 0;
  for (int i = 0; i < ea.count; ++i) {
    const V3 p = ea.corners[i].p, q = eb.corners[0].p + dot(p - eb.corners[0].p, e) * e;
    const double height = dot(n, p - q);
    if (!(norm2(p - q - height * n) < slack * slack)) return false;
    if (height - a.radius - b.radius <= margin)
      list.add(midway(a, b, p, q, n), height - a.radius - b.radius,
               mix_unordered(ea.corners[i].in, ea.corners[i].out));
  }
  return list.count > 1;
}

/// The manifold about the nearest (or deepest) points. A face that the normal leans on by less than a
/// thousandth of the shapes' thickness, and when they overlap by 5% of the depth, takes it over: the gap of
/// its points is along its normal.
SS_HD inline Manifold convex_manifold(const Convex& a, const Convex& b, const Nearest& near, double margin) {
  const double ta = thickness(a), tb = thickness(b), slack = 1e-3 * (ta < tb ? ta : tb);
  const double bias = slack + (near.distance < 0 ? -0.05 * near.distance : 0.0);
  const FacePair fa = face_pair(a, b, -near.normal, 0), fb = face_pair(b, a, near.normal, 1);
  const bool a_first = fa.s + slack >= fb.s;
  PointList list;
  for (int turn = 0; turn < 2; ++turn) {
    const bool of_a = (turn == 0) == a_first;
    const FacePair& p = of_a ? fa : fb;
    if (p.face < 0 || p.s + bias < near.distance) continue;
    if (face_contact(of_a ? a : b, of_a ? b : a, p, near.distance + bias, margin, list))
      return to_manifold(list);
  }
  if (edge_contact(a, b, near, slack, margin, list)) return to_manifold(list);
  return one_point(near.normal, midway(a, b, near.on_a, near.on_b, near.normal),
                   near.distance - a.radius - b.radius, near.feature);
}

/// Any two convex shapes, but for pairs of spheres and capsules.
SS_HD inline Manifold collide_convex(const Convex& a, const Convex& b, double margin) {
  const double most = a.radius + b.radius + margin;
  Nearest near = nearest_points(a, b, {0, 0, 0}, most, 1e-9 * (reach(a) + reach(b)));
  if (near.apart && near.distance > most) return no_contact();
  if (!near.apart) near = penetration(a, b);
  if (near.distance > most) return no_contact();
  return convex_manifold(a, b, near, margin);
}

}  // namespace stickslip::narrow
