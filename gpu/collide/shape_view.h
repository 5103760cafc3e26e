// The shapes of all bodies, as kernels of the contact search read them, and their bounds.
#pragma once

#include "gpu/geometry/aabb.h"
#include "gpu/geometry/shape.h"

namespace stickslip {

using Box3d = AabbT<double>;

/// The half-space dot(normal, x) <= offset, which bodies must not enter.
struct HalfSpaceView {
  Vec<double, 3> normal;  // unit
  double offset;          // [m]
};

/// In place of a ShapeKind: compound bodies, meshes, bodies without shapes. Their contacts may
/// have several directions.
inline constexpr std::uint8_t kManyParts = 255;

/// Backend memory.
struct ShapeView {
  const Shape* shapes;
  const double* shape_radius;         // [m] per shape, about the origin of its own frame
  const Vec<std::int32_t, 2>* range;  // per body: its shapes [begin, end)
  const double* radius;               // [m] per body, about its centre of mass
  const std::uint8_t* kind;           // per body: the ShapeKind of its only shape, or kManyParts
  const HalfSpaceView* half_spaces;
  std::int32_t bodies, half_space_count;
  ShapeLibrary library;
};

/// [m] Half the extents along the world's axes of a shape whose axes are the columns of r. Exact except for
/// hulls and meshes, for which they are those of the bounding box.
SS_HD inline Vec<double, 3> half_extents(const Shape& shape, const Mat<double, 3>& r) {
  const Vec<double, 3>& s = shape.size;
  Vec<double, 3> half{};
  for (int i = 0; i < 3; ++i) {
    const double up = std::abs(r(i, 1));
    switch (shape.kind) {
      case ShapeKind::sphere:
        half[i] = s[0];
        break;
      case ShapeKind::capsule:
        half[i] = s[0] + s[1] * up;
        break;
      case ShapeKind::cylinder: {
        const double across2 = 1 - up * up;
        half[i] = s[1] * up + (across2 > 0 ? s[0] * std::sqrt(across2) : 0.0);
        break;
      }
      default:
        half[i] = std::abs(r(i, 0)) * s[0] + up * s[1] + std::abs(r(i, 2)) * s[2];
    }
  }
  return half;
}

/// The box of a shape whose centre is at x and whose axes are the columns of r.
SS_HD inline Box3d shape_box(const Shape& shape, const ShapeLibrary& library, const Vec<double, 3>& x,
                             const Mat<double, 3>& r) {
  constexpr std::int32_t kFew = 64;  // vertices: visiting them costs less than the pairs that it avoids
  if (shape.kind == ShapeKind::hull && library.hulls[shape.data].vertex_count <= kFew) {
    const HullView& hull = library.hulls[shape.data];
    Box3d box = Box3d::empty();
    for (std::int32_t i = 0; i < hull.vertex_count; ++i) box = merge(box, r * hull.vertices[i]);
    return {x + box.lo, x + box.hi};
  }
  const Vec<double, 3> half = half_extents(shape, r);
  return {x - half, x + half};
}

/// The box of a body at `pose`; empty for a body without shapes.
SS_HD inline Box3d body_box(const ShapeView& view, std::int32_t body, const Pose& pose) {
  Box3d box = Box3d::empty();
  for (std::int32_t s = view.range[body][0]; s < view.range[body][1]; ++s) {
    const Pose at = pose * view.shapes[s].pose;
    box = merge(box, shape_box(view.shapes[s], view.library, at.x, at.q.matrix()));
  }
  return box;
}

}  // namespace stickslip
