// collide: the manifold of any two shapes.
#pragma once

#include "gpu/geometry/shape.h"

namespace stickslip {

/// Contact points of shape a at body pose `pa` and shape b at `pb` (their own `pose` fields are applied
/// inside) that are at most `margin` apart; count = 0 when there is none. Features do not depend on the order
/// of evaluation. Shapes of kind mesh against each other, too.
SS_HD Manifold collide(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                       const ShapeLibrary& library, double margin);

/// A shape against the half-space dot(normal, x) <= offset, which is side b: the manifold's normal is
/// `normal`.
SS_HD Manifold collide_half_space(const Shape& a, const Pose& pa, const Vec<double, 3>& normal, double offset,
                                  const ShapeLibrary& library, double margin);

}  // namespace stickslip
