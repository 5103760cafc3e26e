// Contact of any two convex shapes: the nearest features when their cores are apart, the smallest separating
// translation when they overlap; then the polygon that a face shares with the other shape.
#pragma once

#include "gpu/geometry/convex_features.h"
#include "gpu/geometry/gjk.h"

namespace stickslip::narrow {

/// The best three of several directions along which a may leave b, the best one first.
struct Ways {
  static constexpr int kKept = 3;
  V3 normal[kKept];
  double s[kKept];  // [m] separation along it, cores only
  int count;

  SS_HD void keep(const V3& n, double along) {
    int at = count < kKept ? count++ : kKept;
    for (; at > 0 && along > s[at - 1]; --at)
      if (at < kKept) s[at] = s[at - 1], normal[at] = normal[at - 1];
    if (at < kKept) s[at] = along, normal[at] = n;
  }
  SS_HD void offer(const Convex& a, const Convex& b, const V3& n) {
    const double length2 = norm2(n);
    if (!(length2 > 1e-20)) return;
    const V3 unit = n / std::sqrt(length2);
    keep(unit, separation(a, b, unit));
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

/// Directions across the axis of a capsule or cylinder and the edges of the other shape.
SS_HD inline void offer_axis_ways(const Convex& a, const Convex& b, const Convex& lengthwise,
                                  const Convex& other, Ways& ways) {
  if (lengthwise.kind != ShapeKind::capsule && lengthwise.kind != ShapeKind::cylinder) return;
  const V3 axis = lengthwise.r.column(1), apart = a.x - b.x;
  ways.offer(a, b, apart - dot(apart, axis) * axis);
  for (std::int32_t e = 0; e < edge_directions(other); ++e) {
    const V3 n = cross(axis, edge_direction(other, e));
    ways.offer(a, b, dot(n, apart) < 0 ? -n : n);
  }
}

SS_HD inline void offer_all_axis_ways(const Convex& a, const Convex& b, Ways& ways) {
  offer_axis_ways(a, b, a, b, ways);
  offer_axis_ways(a, b, b, a, ways);
}

/// One step of descent from a separating direction: with a translated along it and a little further, the
/// direction of the nearest points separates at no larger depth, and equals the first only where the depth is
/// stationary.
SS_HD_LARGE inline Nearest follow_way(const Convex& a, const Convex& b, V3 normal, double s) {
  const double scale = reach(a) + reach(b), further = 1e-3 * scale;
  Nearest result{false, s, normal, a.x, b.x};
  for (int round = 0; round < 32; ++round) {
    const V3 shift = (further - s) * normal;
    const Nearest next = nearest_points(a, b, shift, normal, 4 * scale, 0);
    if (!next.apart) break;
    const double along = next.distance - dot(shift, next.normal);
    const bool better = along > s + 1e-9 * scale;
    if (along >= s) normal = next.normal, s = along;
    result = {false, s, normal, next.on_a - shift, next.on_b};
    if (!better) break;
  }
  return result;
}

/// The smallest separating translation of an overlap, from the best directions known and the line of centres.
/// The depth is exact for a minimum near those. Of overlaps deeper than `deep` three are followed; in rare
/// cases two edges elsewhere have a smaller one.
SS_HD_LARGE inline Nearest penetration(const Convex& a, const Convex& b, Ways& ways, double deep) {
  ways.offer(a, b, a.x - b.x);
  if (ways.count == 0) ways.offer(a, b, {0, 1, 0});
  Nearest best = follow_way(a, b, ways.normal[0], ways.s[0]);
  for (int k = 1; k < ways.count && best.distance < -deep; ++k) {
    const Nearest next = follow_way(a, b, ways.normal[k], ways.s[k]);
    if (next.distance > best.distance) best = next;
  }
  return best;
}

/// Halfway between the surfaces, of points on the two cores.
SS_HD inline V3 midway(const Convex& a, const Convex& b, const V3& on_a, const V3& on_b, const V3& n) {
  return 0.5 * (on_a + on_b) + (0.5 * (b.radius - a.radius)) * n;
}

/// Which face is tested against which shape, and how near it must come.
struct FacePair {
  std::int32_t face;
  V3 normal;  // of the face, outward
  double offset, s;
  std::uint32_t side;  // of the shape that has the face: 0: a, 1: b
};

SS_HD inline FacePair face_pair(const Convex& c, const Convex& other, std::int32_t face, std::uint32_t side) {
  FacePair p{face, {0, 1, 0}, 0, -1e300, side};
  if (face < 0) return p;
  p.normal = face_normal(c, face);
  p.offset = face_offset(c, face, p.normal);
  p.s = dot(p.normal, support(other, -p.normal)) - p.offset;
  return p;
}
/// The face that leaves most room, or the first one that leaves `enough`.
SS_HD_LARGE inline FacePair best_face_pair(const Convex& c, const Convex& other, std::uint32_t side,
                                           double enough, Ways& ways) {
  FacePair best = face_pair(c, other, -1, side);
  for (std::int32_t f = 0; f < face_count(c); ++f) {
    const FacePair p = face_pair(c, other, f, side);
    ways.keep(side == 0 ? -p.normal : p.normal, p.s);
    if (p.s > best.s) best = p;
    if (best.s > enough) break;
  }
  return best;
}

/// [m] How far p is outside (> 0) of the face that it is farthest outside of.
SS_HD inline double beyond_faces(const Convex& c, const V3& p) {
  const V3 l = transposed_times(c.r, p - c.x);
  if (c.kind == ShapeKind::hull) {
    double most = -1e300;
    for (std::int32_t f = 0; f < c.hull->face_count; ++f) {
      const double d = dot(c.hull->normals[f], l) - c.hull->offsets[f];
      most = d > most ? d : most;
    }
    return most;
  }
  if (c.kind == ShapeKind::cylinder) {
    return larger(std::sqrt(l[0] * l[0] + l[2] * l[2]) - c.size[0], std::abs(l[1]) - c.size[1]);
  }
  const V3 d = max(l, -l) - c.size;
  return larger(d[0], larger(d[1], d[2]));
}

/// The other shape's polygon over the face. False: nothing of it is there as near as the face promises, to
/// `slack`, or it is behind the face but not in the shape.
SS_HD_LARGE inline bool face_contact(const Convex& c, const Convex& other, const FacePair& p, double slack,
                                     double margin, PointList& list) {
  Polygon over;
  incident_polygon(other, -p.normal, 1 - p.side, over);
  const double tolerance = 1e-4 * smaller(thickness(c), thickness(other));
  FaceWalk walk(c, p.face, p.normal, kBaseCorners, p.side);
  const Corner first = walk.next();
  Corner from = first;
  for (int i = 0; i < walk.count && over.count > 0; ++i) {
    const Corner next = i + 1 < walk.count ? walk.next() : first;
    const V3 out = normalized(cross(next.p - from.p, p.normal));
    cut(over, out, dot(out, from.p), from.out, tolerance);
    from = next;
  }
  double least = 1e300;
  V3 nearest = c.x;
  list.normal = p.side == 0 ? -p.normal : p.normal;
  list.count = 0;
  const double radius = c.radius + other.radius;
  for (int i = 0; i < over.count; ++i) {
    const Corner& q = over.corners[i];
    const double height = dot(p.normal, q.p) - p.offset;
    if (height < least) least = height, nearest = q.p;
    if (height - radius <= margin)
      list.add(q.p + (0.5 * (c.radius - other.radius - height)) * p.normal, height - radius,
               mix_unordered(q.in, q.out));
  }
  if (list.count == 0 || least > p.s + slack) return false;
  return least > 0 || beyond_faces(c, nearest) <= 2 * tolerance;
}

/// Two straight edges side by side touch at the ends of what they share.
SS_HD_LARGE inline bool edge_contact(const Convex& a, const Convex& b, const Nearest& near, double slack,
                                     double margin, PointList& list) {
  Edge ea{}, eb{};
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

/// The better one of a face of each shape; that of b only when it is better by `slack`, so that two opposite
/// faces do not alternate.
SS_HD inline bool best_face_contact(const Convex& a, const Convex& b, const FacePair& fa, const FacePair& fb,
                                    double slack, double margin, PointList& list) {
  const bool of_a = fa.s + slack >= fb.s;
  if (of_a) return fa.face >= 0 && face_contact(a, b, fa, slack, margin, list);
  return face_contact(b, a, fb, slack, margin, list);
}

/// Errors in choosing a face for what is nearest: a thousandth of the thickness, and 5% of a depth.
SS_HD inline double face_bias(double slack, double s) { return slack + (s < 0 ? -0.05 * s : 0.0); }

/// The manifold on the better one of two faces; false where there is none.
SS_HD_LARGE inline bool face_manifold(const Convex& a, const Convex& b, const FacePair& fa,
                                      const FacePair& fb, double slack, double margin, Manifold& m) {
  PointList list;
  if (!best_face_contact(a, b, fa, fb, slack, margin, list)) return false;
  set_manifold(m, list);
  return true;
}

/// The manifold between two parallel edges; false where there are none.
SS_HD_LARGE inline bool edge_manifold(const Convex& a, const Convex& b, const Nearest& near, double slack,
                                      double margin, Manifold& m) {
  PointList list;
  if (!edge_contact(a, b, near, slack, margin, list)) return false;
  set_manifold(m, list);
  return true;
}

/// The name of a manifold's only point, at the nearest points of two shapes. It says nothing of the simplex
/// that found them: of several that hold the same points rounding chooses.
inline constexpr std::uint32_t kNearestName = 0;

/// The manifold about the nearest (or deepest) points. A face that the normal leans on by less than the bias
/// takes it over: the gap of its points is along its normal.
SS_HD_LARGE inline void convex_manifold(const Convex& a, const Convex& b, const Nearest& near, double slack,
                                        double margin, Manifold& m) {
  const double bias = face_bias(slack, near.distance);
  FacePair fa = face_pair(a, b, best_face(a, -near.normal), 0),
           fb = face_pair(b, a, best_face(b, near.normal), 1);
  if (fa.s + bias < near.distance) fa = face_pair(a, b, -1, 0);
  if (fb.s + bias < near.distance) fb = face_pair(b, a, -1, 1);
  if ((fa.face >= 0 || fb.face >= 0) && face_manifold(a, b, fa, fb, 2 * bias, margin, m)) return;
  if (edge_manifold(a, b, near, slack, margin, m)) return;
  m.normal = near.normal;
  m.count = 1;
  m.points[0] = {midway(a, b, near.on_a, near.on_b, near.normal), near.distance - a.radius - b.radius,
                 kNearestName};
}

/// Of the thickness: overlaps less deep than this rest on a face as soon as they fit on it.
inline constexpr double kShallow = 0.01;

/// Sets the manifold of any two convex shapes, but for pairs of spheres and capsules. Contacts that rest on a
/// face are found by the faces alone.
SS_HD_LARGE inline void collide_convex(const Convex& a, const Convex& b, double margin, Manifold& m) {
  m.normal = {0, 1, 0};
  m.count = 0;
  const double most = a.radius + b.radius + margin;
  const double thin = smaller(thickness(a), thickness(b)), slack = 1e-3 * thin;
  Ways ways;
  ways.count = 0;
  if (face_pair(a, b, best_face(a, b.x - a.x), 0).s > most) return;
  if (face_pair(b, a, best_face(b, a.x - b.x), 1).s > most) return;
  const FacePair fa = best_face_pair(a, b, 0, most, ways);
  if (fa.s > most) return;
  const FacePair fb = best_face_pair(b, a, 1, most, ways);
  if (fb.s > most) return;
  // Many edges are tested only when nothing else separates the shapes.
  const bool many_edges = a.kind == ShapeKind::hull || b.kind == ShapeKind::hull;
  if (!many_edges) offer_all_axis_ways(a, b, ways);
  if (ways.count > 0 && ways.s[0] > most) return;
  const double face = fa.s > fb.s ? fa.s : fb.s;
  if (face > -kShallow * thin && ways.s[0] <= face + face_bias(slack, face)) {
    if (face_manifold(a, b, fa, fb, slack, margin, m)) return;
  }
  const V3 start = ways.count > 0 ? ways.normal[0] : a.x - b.x;
  Nearest near = nearest_points(a, b, {0, 0, 0}, start, most, 1e-9 * (reach(a) + reach(b)));
  if (!near.apart) {
    if (many_edges) offer_all_axis_ways(a, b, ways);
    near = penetration(a, b, ways, kShallow * thin);
  }
  if (near.distance > most) return;
  convex_manifold(a, b, near, slack, margin, m);
}

}  // namespace stickslip::narrow
