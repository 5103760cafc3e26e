// collide: the manifold of any two shapes.
#pragma once

#include "gpu/geometry/collide_box.h"
#include "gpu/geometry/collide_half_space.h"
#include "gpu/geometry/collide_sphere.h"

namespace stickslip {

namespace narrow {

/// Two convex shapes, the kind of a not after that of b.
SS_HD inline Manifold collide_ordered(const Convex& a, const Convex& b, double margin) {
  if (a.kind == ShapeKind::box && b.kind == ShapeKind::box) return collide_boxes(a, b, margin);
  if (a.kind == ShapeKind::sphere && b.kind != ShapeKind::hull) return collide_sphere(a, b, margin);
  if (a.kind == ShapeKind::capsule && b.kind == ShapeKind::capsule) return collide_capsules(a, b, margin);
  return collide_convex(a, b, margin);
}

}  // namespace narrow

/// Contact points of shape a at body pose `pa` and shape b at `pb` (their own `pose` fields are applied
/// inside) that are at most `margin` apart; count = 0 when there is none. Features do not depend on the order
/// of evaluation. Shapes of kind mesh against each other, too.
SS_HD inline Manifold collide(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                              const ShapeLibrary& library, double margin) {
  if (a.kind > b.kind) return narrow::flipped(collide(b, pb, a, pa, library, margin));
  if (b.kind == ShapeKind::mesh) return narrow::no_contact();
  const Vec<double, 3> origin = pb.x;
  const narrow::Convex ca = narrow::make_convex(a, pa, origin, library);
  const narrow::Convex cb = narrow::make_convex(b, pb, origin, library);
  Manifold m = narrow::collide_ordered(ca, cb, margin);
  for (int i = 0; i < m.count; ++i) m.points[i].point += origin;
  return m;
}

/// A shape against the half-space dot(normal, x) <= offset, which is side b: the manifold's normal is
/// `normal`.
SS_HD inline Manifold collide_half_space(const Shape& a, const Pose& pa, const Vec<double, 3>& normal,
                                         double offset, const ShapeLibrary& library, double margin) {
  if (a.kind == ShapeKind::mesh) return narrow::no_contact();
  const narrow::Convex c = narrow::make_convex(a, pa, {0, 0, 0}, library);
  return narrow::convex_on_half_space(c, {normal, offset}, margin);
}

}  // namespace stickslip
