// The feature of a convex shape that is farthest along a direction: a face, an edge or a corner, as a
// polygon.
#pragma once

#include "gpu/geometry/manifold_points.h"

namespace stickslip::narrow {

/// Names of edges of the two shapes never coincide.
SS_HD inline std::uint32_t edge_name(std::uint32_t side, std::uint32_t edge) {
  return side << 31 | (edge + 1);
}

/// Corners on a cylinder's rim that stand for it, the first one where it is lowest: 8 where these are to be
/// contact points, 16 where they bound another shape's (then the polygon is smaller than the disc by
/// 1 - cos(pi / 16) = 2% of the radius at most).
inline constexpr int kRimCorners = 8, kBaseCorners = 16;

SS_HD inline void rim_polygon(const Convex& c, std::int32_t cap, const V3& toward, int corners,
                              std::uint32_t side, Polygon& out) {
  const Vec<double, 2> first = rim_direction(c, toward);
  // Counter-clockwise from outside: about +y from z to x.
  const double y = cap ? -c.size[1] : c.size[1], turn = cap ? -1.0 : 1.0;
  const bool fine = corners == kBaseCorners;  // by pi / 8, else by pi / 4
  const double cosine = fine ? 0.92387953251128675613 : 0.70710678118654752440;
  const double sine = fine ? 0.38268343236508977173 : 0.70710678118654752440;
  double x = c.size[0] * first[0], z = c.size[0] * first[1];
  out.count = corners;
  for (int k = 0; k < corners; ++k) {
    const auto name = static_cast<std::uint32_t>(cap * corners + k);
    const auto before = static_cast<std::uint32_t>(cap * corners + (k + corners - 1) % corners);
    out.corners[k] = {c.x + c.r * V3{x, y, z}, edge_name(side, before), edge_name(side, name)};
    const double next = cosine * x + turn * sine * z;
    z = cosine * z - turn * sine * x;
    x = next;
  }
}

SS_HD inline void box_face_polygon(const Convex& c, std::int32_t f, std::uint32_t side, Polygon& out) {
  const int axis = f / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double sign = (f & 1) ? -1.0 : 1.0;
  const V3 center = c.x + (sign * c.size[axis]) * c.r.column(axis);
  const V3 eu = c.size[u] * c.r.column(u), ev = (sign * c.size[v]) * c.r.column(v);
  const std::uint32_t flip = f & 1;
  // An edge is named by the face beyond it and by this one.
  const std::uint32_t base = static_cast<std::uint32_t>(f) * 8;
  const std::uint32_t names[4] = {edge_name(side, base + static_cast<std::uint32_t>(2 * v) + flip),
                                  edge_name(side, base + static_cast<std::uint32_t>(2 * u) + 1),
                                  edge_name(side, base + static_cast<std::uint32_t>(2 * v) + (1 - flip)),
                                  edge_name(side, base + static_cast<std::uint32_t>(2 * u))};
  out.count = 4;
  out.corners[0] = {center + eu + ev, names[3], names[0]};
  out.corners[1] = {center - eu + ev, names[0], names[1]};
  out.corners[2] = {center - eu - ev, names[1], names[2]};
  out.corners[3] = {center + eu - ev, names[2], names[3]};
}

/// Face f, counter-clockwise from outside; of a cap that many corners.
SS_HD_LARGE inline void face_polygon(const Convex& c, std::int32_t f, const V3& toward, int rim_corners,
                                     std::uint32_t side, Polygon& out) {
  if (c.kind == ShapeKind::cylinder) return rim_polygon(c, f, toward, rim_corners, side, out);
  if (c.kind == ShapeKind::box) return box_face_polygon(c, f, side, out);
  const HullView& h = *c.hull;
  const std::int32_t begin = h.face_start[f], corners = h.face_start[f + 1] - begin;
  out.count = corners < Polygon::kFromFace ? corners : Polygon::kFromFace;
  std::int32_t before = begin + (out.count - 1) * corners / out.count;
  for (int k = 0; k < out.count; ++k) {
    const std::int32_t at = begin + k * corners / out.count;
    out.corners[k] = {c.x + c.r * h.vertices[h.face_vertices[at]],
                      edge_name(side, static_cast<std::uint32_t>(before)),
                      edge_name(side, static_cast<std::uint32_t>(at))};
    before = at;
  }
}

/// The straight line of a capsule's core, or of a cylinder's side where it is farthest along d.
SS_HD inline void side_line(const Convex& c, const V3& d, std::uint32_t side, Polygon& out) {
  const V3 half = c.size[1] * c.r.column(1);
  V3 middle = c.x;
  if (c.kind == ShapeKind::cylinder) {
    const Vec<double, 2> at = rim_direction(c, d);
    middle += c.r * V3{c.size[0] * at[0], 0.0, c.size[0] * at[1]};
  }
  const std::uint32_t name = edge_name(side, 1000);
  out.count = 2;
  out.corners[0] = {middle + half, edge_name(side, 1001), name};
  out.corners[1] = {middle - half, name, edge_name(side, 1002)};
}

/// The feature of c that is farthest along d: a face, a side or a point. A cylinder shows its cap within 45
/// degrees.
SS_HD_LARGE inline void incident_polygon(const Convex& c, const V3& d, std::uint32_t side, Polygon& out) {
  if (c.kind == ShapeKind::sphere) {
    out.count = 1;
    out.corners[0] = {c.x, edge_name(side, 0), edge_name(side, 0)};
    return;
  }
  const double along = dot(d, c.r.column(1));
  const bool lies = c.kind == ShapeKind::cylinder && 2 * along * along < norm2(d);
  if (lies || c.kind == ShapeKind::capsule) return side_line(c, d, side, out);
  face_polygon(c, best_face(c, d), d, kRimCorners, side, out);
}

/// The straight edge that is farthest along d, if the shape has one there: false for a cylinder that stands
/// and for spheres.
SS_HD inline bool incident_edge(const Convex& c, const V3& d, std::uint32_t side, Polygon& out) {
  incident_polygon(c, d, side, out);
  if (out.count < 2 || (out.count > 2 && c.kind == ShapeKind::cylinder)) return false;
  if (out.count == 2) return true;
  int best = 0;
  double height = 0;
  for (int i = 0; i < out.count; ++i) {
    const double h = dot(d, out.corners[i].p + out.corners[i + 1 < out.count ? i + 1 : 0].p);
    if (i == 0 || h > height) height = h, best = i;
  }
  const Corner from = out.corners[best], to = out.corners[best + 1 < out.count ? best + 1 : 0];
  out.count = 2;
  out.corners[0] = from;
  out.corners[1] = to;
  return true;
}

}  // namespace stickslip::narrow
