// Classes of pair tests that differ in time and registers; each class has a kernel of its own.
#pragma once

#include "gpu/geometry/collide.h"

namespace stickslip {

/// The class of a pair of shapes. A shape against a half-space is always `formula`.
enum class PairClass : std::uint8_t {
  formula,  // boxes, spheres, capsules
  search,   // other convex shapes: iterative, see collide_convex
  mesh,     // a distance field: several manifolds
};

SS_HD constexpr PairClass pair_class(ShapeKind a, ShapeKind b) {
  const PairTest test = pair_test(a, b);
  if (test == PairTest::mesh) return PairClass::mesh;
  return test == PairTest::convex ? PairClass::search : PairClass::formula;
}

namespace narrow {

/// The manifold with a and b exchanged.
SS_HD inline Manifold exchanged(Manifold m) {
  m.normal = -m.normal;
  return m;
}

/// Leaves out the code of other classes: it would cost registers.
template <PairClass C>
SS_HD Manifold collide_class_ordered(const Convex& a, const Convex& b, double margin) {
  if constexpr (C == PairClass::search) return collide_convex(a, b, margin);
  else return collide_by_formula(a, b, margin);
}

}  // namespace narrow

/// Like `collide`, for two convex shapes of class C.
template <PairClass C>
SS_HD Manifold collide_class(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                             const ShapeLibrary& library, double margin) {
  static_assert(C != PairClass::mesh);
  const bool turned = a.kind > b.kind;
  const Vec<double, 3> origin = turned ? pa.x : pb.x;
  const narrow::Convex ca = narrow::make_convex(a, pa, origin, library);
  const narrow::Convex cb = narrow::make_convex(b, pb, origin, library);
  Manifold m = narrow::collide_class_ordered<C>(turned ? cb : ca, turned ? ca : cb, margin);
  for (int i = 0; i < m.count; ++i) m.points[i].point += origin;
  return turned ? narrow::exchanged(m) : m;
}

}  // namespace stickslip
