// A convex shape at a pose: support points, faces and their outlines.
#pragma once

#include "gpu/core/out_of_line.h"
#include "gpu/geometry/shape.h"

namespace stickslip::narrow {

using V3 = Vec<double, 3>;

SS_HD inline double larger(double a, double b) { return a > b ? a : b; }
SS_HD inline double smaller(double a, double b) { return a < b ? a : b; }
SS_HD inline double smallest(const V3& s) { return smaller(s[0], smaller(s[1], s[2])); }
/// Numbers of the largest entry, the first one of equals.
SS_HD inline int largest_axis(const V3& s) {
  return s[0] >= s[1] ? (s[0] >= s[2] ? 0 : 2) : (s[1] >= s[2] ? 1 : 2);
}
SS_HD inline double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/// The points within `radius` of a core: a point (sphere), a segment along y (capsule) or the shape itself.
struct Convex {
  ShapeKind kind;
  V3 size;        // Shape::size
  double radius;  // [m] around the core; 0 but for spheres and capsules
  const HullView* hull;
  Mat<double, 3> r;  // columns: the shape's axes
  V3 x;              // [m] its centre
};

/// Places count from `origin`, so that no digits are lost far from the world's.
SS_HD inline Convex make_convex(const Shape& s, const Pose& body, const V3& origin,
                                const ShapeLibrary& library) {
  const Pose at = body * s.pose;
  const bool round = s.kind == ShapeKind::sphere || s.kind == ShapeKind::capsule;
  return {s.kind,
          s.size,
          round ? s.size[0] : 0.0,
          s.kind == ShapeKind::hull ? library.hulls + s.data : nullptr,
          at.q.matrix(),
          at.x - origin};
}

/// [m] The length that small errors are relative to: the smallest half size.
SS_HD inline double thickness(const Convex& c) {
  if (c.kind == ShapeKind::sphere || c.kind == ShapeKind::capsule) return c.size[0];
  return smallest(c.size);
}
/// [m] At least the distance of any point of the core from its centre.
SS_HD inline double reach(const Convex& c) {
  return c.kind == ShapeKind::sphere ? 0.0 : c.kind == ShapeKind::capsule ? c.size[1] : norm(c.size);
}

/// The core's point farthest along d, in the shape's frame.
SS_HD inline V3 local_support(const Convex& c, const V3& d) {
  switch (c.kind) {
    case ShapeKind::capsule:
      return {0.0, d[1] < 0 ? -c.size[1] : c.size[1], 0.0};
    case ShapeKind::box:
      return {d[0] < 0 ? -c.size[0] : c.size[0], d[1] < 0 ? -c.size[1] : c.size[1],
              d[2] < 0 ? -c.size[2] : c.size[2]};
    case ShapeKind::cylinder: {
      const double across = std::sqrt(d[0] * d[0] + d[2] * d[2]);
      const double scale = across > 0 ? c.size[0] / across : 0.0;
      return {across > 0 ? scale * d[0] : c.size[0], d[1] < 0 ? -c.size[1] : c.size[1], scale * d[2]};
    }
    case ShapeKind::hull: {
      double best = dot(c.hull->vertices[0], d);
      std::int32_t farthest = 0;
      for (std::int32_t i = 1; i < c.hull->vertex_count; ++i) {
        const double along = dot(c.hull->vertices[i], d);
        if (along > best) best = along, farthest = i;
      }
      return c.hull->vertices[farthest];
    }
    default:
      return {0.0, 0.0, 0.0};
  }
}
SS_HD_LARGE inline V3 support(const Convex& c, const V3& d) {
  return c.x + c.r * local_support(c, transposed_times(c.r, d));
}
/// [m] How far a stands from b along the unit vector n, cores only; < 0: overlap.
SS_HD inline double separation(const Convex& a, const Convex& b, const V3& n) {
  return dot(n, support(a, -n) - support(b, n));
}

/// Flat faces. Box: 2 axis + (1 on the negative side); cylinder: the caps at +y and -y.
SS_HD inline std::int32_t face_count(const Convex& c) {
  return c.kind == ShapeKind::box        ? 6
         : c.kind == ShapeKind::cylinder ? 2
         : c.kind == ShapeKind::hull     ? c.hull->face_count
                                         : 0;
}
SS_HD inline V3 face_normal(const Convex& c, std::int32_t f) {
  if (c.kind == ShapeKind::hull) return c.r * c.hull->normals[f];
  const V3 axis = c.r.column(c.kind == ShapeKind::cylinder ? 1 : f / 2);
  return (f & 1) ? -axis : axis;
}
/// [m] dot(face_normal, x) on the face.
SS_HD inline double face_offset(const Convex& c, std::int32_t f, const V3& normal) {
  const double local = c.kind == ShapeKind::hull       ? c.hull->offsets[f]
                       : c.kind == ShapeKind::cylinder ? c.size[1]
                                                       : c.size[f / 2];
  return dot(normal, c.x) + local;
}
/// The face whose normal is most along d; -1 for shapes without faces.
SS_HD inline std::int32_t best_face(const Convex& c, const V3& d) {
  const V3 l = transposed_times(c.r, d);
  if (c.kind == ShapeKind::cylinder) return l[1] < 0;
  if (c.kind == ShapeKind::box) {
    const int axis = largest_axis(max(l, -l));
    return 2 * axis + (l[axis] < 0);
  }
  if (c.kind != ShapeKind::hull) return -1;
  std::int32_t face = 0;
  double best = dot(c.hull->normals[0], l);
  for (std::int32_t f = 1; f < c.hull->face_count; ++f) {
    const double along = dot(c.hull->normals[f], l);
    if (along > best) best = along, face = f;
  }
  return face;
}

/// Where the rim of a cylinder is farthest along d: (x, z) of unit length in its frame. With the cap flat on
/// d, to this tilt, it is x, so that it does not wander.
inline constexpr double kFlatTilt = 1e-4;
SS_HD inline Vec<double, 2> rim_direction(const Convex& c, const V3& d) {
  const V3 l = transposed_times(c.r, d);
  const double across2 = l[0] * l[0] + l[2] * l[2];
  if (across2 < kFlatTilt * kFlatTilt) return {1.0, 0.0};
  const double s = 1 / std::sqrt(across2);
  return {s * l[0], s * l[2]};
}

}  // namespace stickslip::narrow
