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

/// Goes round the corners of a rim, counter-clockwise from outside: about +y from z to x.
struct RimWalk {
  double x, y, z, cosine, sine;

  RimWalk() = default;
  SS_HD RimWalk(const Convex& c, std::int32_t cap, const V3& toward, int corners) {
    const Vec<double, 2> first = rim_direction(c, toward);
    const bool fine = corners == kBaseCorners;  // by pi / 8, else by pi / 4
    cosine = fine ? 0.92387953251128675613 : 0.70710678118654752440;
    sine = (cap ? -1.0 : 1.0) * (fine ? 0.38268343236508977173 : 0.70710678118654752440);
    x = c.size[0] * first[0], y = cap ? -c.size[1] : c.size[1], z = c.size[0] * first[1];
  }
  SS_HD V3 corner(const Convex& c) const { return c.x + c.r * V3{x, y, z}; }
  SS_HD void advance() {
    const double next = cosine * x + sine * z;
    z = cosine * z - sine * x;
    x = next;
  }
};

/// The corners of face f one after the other, counter-clockwise from outside; of a cap that many corners.
/// Corners of a rim start where it is farthest along `toward`.
class FaceWalk {
 public:
  SS_HD FaceWalk(const Convex& c, std::int32_t f, const V3& toward, int rim_corners, std::uint32_t side)
      : c_(c), f_(f), side_(side), k_(0) {
    if (c.kind == ShapeKind::cylinder) {
      count = rim_corners;
      rim_ = RimWalk(c, f, toward, rim_corners);
    } else if (c.kind == ShapeKind::box) {
      count = 4;
    } else {
      corners_ = c.hull->face_start[f + 1] - c.hull->face_start[f];
      count = corners_ < kMostFaceCorners ? corners_ : kMostFaceCorners;
    }
  }
  int count;

  SS_HD Corner next() {
    const int k = k_++;
    if (c_.kind == ShapeKind::box) return box_corner(k);
    return c_.kind == ShapeKind::cylinder ? cap_corner(k) : hull_corner(k);
  }

 private:
  SS_HD Corner cap_corner(int k) {
    const V3 p = rim_.corner(c_);
    rim_.advance();
    const auto name = static_cast<std::uint32_t>(f_ * count + k);
    const auto before = static_cast<std::uint32_t>(f_ * count + (k + count - 1) % count);
    return {p, edge_name(side_, before), edge_name(side_, name)};
  }
  /// An edge is named by the face beyond it and by this one.
  SS_HD std::uint32_t box_edge_name(int k) const {
    const int axis = f_ / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const std::uint32_t flip = f_ & 1, base = static_cast<std::uint32_t>(f_) * 8;
    // Over +v, -u, -v and +u; the axis v turns over with the face.
    const std::uint32_t beyond = k == 0   ? static_cast<std::uint32_t>(2 * v) + flip
                                 : k == 1 ? static_cast<std::uint32_t>(2 * u) + 1
                                 : k == 2 ? static_cast<std::uint32_t>(2 * v) + (1 - flip)
                                          : static_cast<std::uint32_t>(2 * u);
    return edge_name(side_, base + beyond);
  }
  SS_HD Corner box_corner(int k) const {
    const int axis = f_ / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double sign = (f_ & 1) ? -1.0 : 1.0;
    const V3 center = c_.x + (sign * c_.size[axis]) * c_.r.column(axis);
    const V3 eu = c_.size[u] * c_.r.column(u), ev = (sign * c_.size[v]) * c_.r.column(v);
    const V3 beside = k == 0 || k == 3 ? center + eu : center - eu;
    return {k < 2 ? beside + ev : beside - ev, box_edge_name((k + 3) % 4), box_edge_name(k)};
  }
  SS_HD Corner hull_corner(int k) const {
    const HullView& h = *c_.hull;
    const std::int32_t begin = h.face_start[f_], at = begin + k * corners_ / count;
    const std::int32_t before = begin + (k + count - 1) % count * corners_ / count;
    return {c_.x + c_.r * h.vertices[h.face_vertices[at]],
            edge_name(side_, static_cast<std::uint32_t>(before)),
            edge_name(side_, static_cast<std::uint32_t>(at))};
  }

  const Convex& c_;
  std::int32_t f_, corners_ = 0;
  std::uint32_t side_;
  int k_;
  RimWalk rim_;
};

/// The straight line of a capsule's core, or of a cylinder's side where it is farthest along d.
template <int Room>
SS_HD inline void side_line(const Convex& c, const V3& d, std::uint32_t side, PolygonOf<Room>& out) {
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

/// True where the side line of a shape is farthest along d. A cylinder shows its cap within 45 degrees.
SS_HD inline bool shows_side(const Convex& c, const V3& d) {
  if (c.kind == ShapeKind::capsule) return true;
  const double along = dot(d, c.r.column(1));
  return c.kind == ShapeKind::cylinder && 2 * along * along < norm2(d);
}

/// The feature of c that is farthest along d: a face, a side or a point.
SS_HD_LARGE inline void incident_polygon(const Convex& c, const V3& d, std::uint32_t side, Polygon& out) {
  if (c.kind == ShapeKind::sphere) {
    out.count = 1;
    out.corners[0] = {c.x, edge_name(side, 0), edge_name(side, 0)};
    return;
  }
  if (shows_side(c, d)) return side_line(c, d, side, out);
  FaceWalk walk(c, best_face(c, d), d, kRimCorners, side);
  out.count = walk.count;
  for (int k = 0; k < walk.count; ++k) out.corners[k] = walk.next();
}

/// A segment, with free places that `cut` needs.
using Edge = PolygonOf<4>;

/// The straight edge that is farthest along d, if the shape has one there: false for a cylinder that stands
/// and for spheres.
SS_HD_LARGE inline bool incident_edge(const Convex& c, const V3& d, std::uint32_t side, Edge& out) {
  if (c.kind == ShapeKind::sphere) return false;
  if (shows_side(c, d)) {
    side_line(c, d, side, out);
    return true;
  }
  if (c.kind == ShapeKind::cylinder) return false;
  FaceWalk walk(c, best_face(c, d), d, kRimCorners, side);
  const Corner first = walk.next();
  Corner from = first;
  double height = 0;
  out.count = 2;
  for (int i = 0; i < walk.count; ++i) {
    const Corner to = i + 1 < walk.count ? walk.next() : first;
    const double h = dot(d, from.p + to.p);
    if (i == 0 || h > height) height = h, out.corners[0] = from, out.corners[1] = to;
    from = to;
  }
  return true;
}

}  // namespace stickslip::narrow
