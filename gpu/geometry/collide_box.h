// Box against box: the separating axes of both (6 face normals, 9 cross products of edges), then the polygon
// that two faces share, or the point between two edges.
#pragma once

#include "gpu/geometry/collide_convex.h"

namespace stickslip::narrow {

/// b in the frame of a.
struct BoxPair {
  V3 ha, hb;            // [m] half sizes
  V3 t;                 // [m] centre of b
  Mat<double, 3> c;     // c(i, j) = axis i of a . axis j of b
  Mat<double, 3> size;  // |c|
};

/// The separating direction that leaves most room.
struct BoxAxis {
  double s;     // [m] separation along it; the largest of all is a lower bound of the distance
  int i, j;     // face of a: (i, -1), of b: (-1, j), edges: (i, j)
  double sign;  // of the axis, so that it points from a to b
};

SS_HD inline BoxPair box_pair(const Convex& a, const Convex& b) {
  BoxPair p{a.size, b.size, transposed_times(a.r, b.x - a.x), {}, {}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      p.c(i, j) = a.r(0, i) * b.r(0, j) + a.r(1, i) * b.r(1, j) + a.r(2, i) * b.r(2, j);
      p.size(i, j) = std::abs(p.c(i, j));
    }
  return p;
}

/// The best face axis: one of b only when it is better by `slack`, so that two opposite faces do not
/// alternate.
SS_HD inline BoxAxis best_face_axis(const BoxPair& p, double slack) {
  BoxAxis a{-1e300, 0, -1, 1}, b{-1e300, -1, 0, 1};
  for (int i = 0; i < 3; ++i) {
    const double s = std::abs(p.t[i]) - p.ha[i] -
                     (p.hb[0] * p.size(i, 0) + p.hb[1] * p.size(i, 1) + p.hb[2] * p.size(i, 2));
    if (s > a.s) a = {s, i, -1, p.t[i] < 0 ? -1.0 : 1.0};
  }
  for (int j = 0; j < 3; ++j) {
    const double along = p.t[0] * p.c(0, j) + p.t[1] * p.c(1, j) + p.t[2] * p.c(2, j);
    const double s = std::abs(along) - p.hb[j] -
                     (p.ha[0] * p.size(0, j) + p.ha[1] * p.size(1, j) + p.ha[2] * p.size(2, j));
    if (s > b.s) b = {s, -1, j, along < 0 ? -1.0 : 1.0};
  }
  return b.s > a.s + slack ? b : a;
}

/// The best edge axis that leaves more room than `least`, else i = -1. Edges within 1e-3 rad of parallel add
/// nothing to the faces.
SS_HD_LARGE inline BoxAxis best_edge_axis(const BoxPair& p, double least) {
  BoxAxis best{least, -1, -1, 1};
  for (int i = 0; i < 3; ++i) {
    const int i1 = i < 2 ? i + 1 : 0, i2 = i > 0 ? i - 1 : 2;
    for (int j = 0; j < 3; ++j) {
      const int j1 = j < 2 ? j + 1 : 0, j2 = j > 0 ? j - 1 : 2;
      const double length2 = 1 - p.c(i, j) * p.c(i, j);
      const double along = p.t[i2] * p.c(i1, j) - p.t[i1] * p.c(i2, j);
      const double room = std::abs(along) - (p.ha[i1] * p.size(i2, j) + p.ha[i2] * p.size(i1, j) +
                                             p.hb[j1] * p.size(i, j2) + p.hb[j2] * p.size(i, j1));
      if (length2 < 1e-6) continue;
      const double s = room / std::sqrt(length2);
      if (s > best.s) best = {s, i, j, along < 0 ? -1.0 : 1.0};
    }
  }
  return best;
}

/// A corner of the shared polygon: position along the reference face's sides, height over it, and the two
/// edges that end there.
struct FlatCorner {
  double u, v, height;
  std::uint32_t in, out;
};
struct FlatPolygon {
  int count;
  FlatCorner corners[8];
};

/// Keeps what has sign * (coordinate k) <= limit; corners beyond it by less than `tolerance` stay.
SS_HD inline void cut_side(FlatPolygon& polygon, int k, double sign, double limit, double tolerance,
                           std::uint32_t name) {
  double beyond[8];
  bool all = true;
  for (int i = 0; i < polygon.count; ++i) {
    beyond[i] = sign * (k == 0 ? polygon.corners[i].u : polygon.corners[i].v) - limit;
    all = all && beyond[i] <= tolerance;
  }
  if (all) return;
  FlatPolygon result;
  result.count = 0;
  for (int i = 0; i < polygon.count; ++i) {
    const int j = i + 1 < polygon.count ? i + 1 : 0;
    const FlatCorner &from = polygon.corners[i], &to = polygon.corners[j];
    const bool inside = beyond[i] <= tolerance;
    if (inside && result.count < 8) result.corners[result.count++] = from;
    if (inside == (beyond[j] <= tolerance) || result.count == 8) continue;
    const double t = clamped(beyond[i] / (beyond[i] - beyond[j]), 0, 1);
    result.corners[result.count++] = {from.u + t * (to.u - from.u), from.v + t * (to.v - from.v),
                                      from.height + t * (to.height - from.height), inside ? from.out : name,
                                      inside ? name : from.out};
  }
  polygon.count = result.count;
  for (int i = 0; i < result.count; ++i) polygon.corners[i] = result.corners[i];
}

/// One box as the reference, the other in its frame. An edge is named by its side and the face beyond it, so
/// that a corner has the same name for either box as the reference.
struct FacedBoxes {
  V3 reference, incident;  // [m] half sizes
  V3 center;               // [m] of the incident box, in the reference's frame
  Mat<double, 3> c;        // columns: its axes
  std::uint32_t reference_side;
  double tolerance;  // [m] faces of one size on top of each other keep their corners while they shift by less
};

SS_HD inline std::uint32_t box_edge(std::uint32_t side, int axis, bool negative) {
  return side * 8 + static_cast<std::uint32_t>(2 * axis) + (negative ? 1u : 0u);
}

/// The incident face over the reference's face `axis`, on the side `sign`; returns the incident face.
SS_HD_LARGE inline int shared_polygon(const FacedBoxes& f, int axis, double sign, FlatPolygon& polygon) {
  const int j = largest_axis({std::abs(f.c(axis, 0)), std::abs(f.c(axis, 1)), std::abs(f.c(axis, 2))});
  const int u = axis < 2 ? axis + 1 : 0, v = axis > 0 ? axis - 1 : 2;
  const int j1 = j < 2 ? j + 1 : 0, j2 = j > 0 ? j - 1 : 2;
  const bool negative = f.c(axis, j) * sign > 0;
  const double outward = negative ? -f.incident[j] : f.incident[j];
  const std::uint32_t side = 1 - f.reference_side;
  double center[3], e1[3], e2[3];
  const int rows[3] = {u, v, axis};
  for (int k = 0; k < 3; ++k) {
    center[k] = f.center[rows[k]] + outward * f.c(rows[k], j);
    e1[k] = f.incident[j1] * f.c(rows[k], j1);
    e2[k] = f.incident[j2] * f.c(rows[k], j2);
  }
  const std::uint32_t names[4] = {box_edge(side, j1, false), box_edge(side, j2, false),
                                  box_edge(side, j1, true), box_edge(side, j2, true)};
  polygon.count = 4;
  for (int k = 0; k < 4; ++k) {
    const double s1 = k == 0 || k == 3 ? 1.0 : -1.0, s2 = k < 2 ? 1.0 : -1.0;
    polygon.corners[k] = {center[0] + s1 * e1[0] + s2 * e2[0], center[1] + s1 * e1[1] + s2 * e2[1],
                          sign * (center[2] + s1 * e1[2] + s2 * e2[2]) - f.reference[axis], names[k],
                          names[k < 3 ? k + 1 : 0]};
  }
  const double hu = f.reference[u], hv = f.reference[v], tolerance = f.tolerance;
  cut_side(polygon, 0, 1, hu, tolerance, box_edge(f.reference_side, u, false));
  cut_side(polygon, 0, -1, hu, tolerance, box_edge(f.reference_side, u, true));
  cut_side(polygon, 1, 1, hv, tolerance, box_edge(f.reference_side, v, false));
  cut_side(polygon, 1, -1, hv, tolerance, box_edge(f.reference_side, v, true));
  return 2 * j + (negative ? 1 : 0);
}

/// The manifold over a face. Returns whether it holds the point that the axis promises, to `slack`.
SS_HD inline bool box_face_contact(const Convex& a, const Convex& b, const BoxPair& p, const BoxAxis& x,
                                   double slack, double margin, Manifold& m) {
  const double tolerance = 1e-4 * smaller(thickness(a), thickness(b));
  FacedBoxes f;
  const bool of_a = x.j < 0;
  const Convex& base = of_a ? a : b;
  const int axis = of_a ? x.i : x.j;
  // Outward from the reference: towards b from a, back from b.
  const double sign = of_a ? x.sign : -x.sign;
  if (of_a) {
    f = {p.ha, p.hb, p.t, p.c, 0, tolerance};
  } else {
    f = {p.hb, p.ha, -transposed_times(p.c, p.t), p.c.transposed(), 1, tolerance};
  }
  FlatPolygon polygon;
  const int incident_face = shared_polygon(f, axis, sign, polygon);
  const int face = 2 * axis + (sign < 0 ? 1 : 0);
  const auto faces = static_cast<std::uint32_t>(of_a ? face * 8 + incident_face : incident_face * 8 + face);
  const int u = axis < 2 ? axis + 1 : 0, v = axis > 0 ? axis - 1 : 2;
  const V3 outward = sign * base.r.column(axis), eu = base.r.column(u), ev = base.r.column(v);
  const V3 center = base.x + f.reference[axis] * outward;
  m.normal = of_a ? -outward : outward;
  m.count = 0;
  double least = 1e300;
  for (int k = 0; k < polygon.count; ++k) {
    const FlatCorner& q = polygon.corners[k];
    if (q.height < least) least = q.height;
    if (q.height > margin) continue;
    const std::uint32_t low = q.in < q.out ? q.in : q.out, high = q.in < q.out ? q.out : q.in;
    m.points[m.count++] = {center + q.u * eu + q.v * ev + (0.5 * q.height) * outward, q.height,
                           faces << 8 | low << 4 | high};
  }
  return m.count > 0 && least <= x.s + slack;
}

/// The point between two edges. Returns false where their lines are nearest beyond the edges' ends.
SS_HD_LARGE inline bool box_edge_contact(const Convex& a, const Convex& b, const BoxPair& p, const BoxAxis& x,
                                         Manifold& m) {
  const V3 da = a.r.column(x.i), db = b.r.column(x.j);
  const V3 toward_b = x.sign * normalized(cross(da, db));  // from a
  V3 pa = a.x, pb = b.x;
  std::uint32_t names = static_cast<std::uint32_t>(x.i * 3 + x.j);
  for (int k = 0; k < 3; ++k) {
    const V3 ua = a.r.column(k), ub = b.r.column(k);
    const bool minus_a = dot(ua, toward_b)<0, minus_b = dot(ub, toward_b)> 0;
    if (k != x.i) pa += (minus_a ? -p.ha[k] : p.ha[k]) * ua, names = names << 1 | (minus_a ? 1u : 0u);
    if (k != x.j) pb += (minus_b ? -p.hb[k] : p.hb[k]) * ub, names = names << 1 | (minus_b ? 1u : 0u);
  }
  // pa + s da and pb + t db are nearest.
  const double cosine = p.c(x.i, x.j), sine2 = 1 - cosine * cosine;
  const V3 c = pb - pa;
  const double ca = dot(c, da), cb = dot(c, db);
  const double s = (ca - cosine * cb) / sine2, t = (cosine * ca - cb) / sine2;
  const bool within = std::abs(s) <= p.ha[x.i] && std::abs(t) <= p.hb[x.j];
  const double sc = clamped(s, -p.ha[x.i], p.ha[x.i]), tc = clamped(t, -p.hb[x.j], p.hb[x.j]);
  m = one_point(-toward_b, 0.5 * (pa + sc * da + pb + tc * db), x.s, 0x80000000u | names);
  return within;
}

/// Sets the manifold of two boxes, if a face or a pair of edges holds their nearest features; else returns
/// false, and `collide_convex` has to search for them. Apart, the gap is the distance of the nearest
/// features. Overlapping, a face is preferred to edges that leave 5% of the depth and a thousandth of the
/// thickness more room.
SS_HD_LARGE inline bool collide_boxes(const Convex& a, const Convex& b, double margin, Manifold& m) {
  m.normal = {0, 1, 0};
  m.count = 0;
  const BoxPair p = box_pair(a, b);
  const double slack = 1e-3 * smaller(thickness(a), thickness(b));
  const BoxAxis face = best_face_axis(p, slack);
  if (face.s > margin) return true;
  const double bias = face_bias(slack, face.s);
  const BoxAxis edge = best_edge_axis(p, face.s + bias);
  if (edge.i < 0) return box_face_contact(a, b, p, face, bias, margin, m);
  return edge.s > margin || box_edge_contact(a, b, p, edge, m) || edge.s < 0;
}

}  // namespace stickslip::narrow
