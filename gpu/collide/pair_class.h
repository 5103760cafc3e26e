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

/// Sets the manifold, like `collide`, of two convex shapes of class C. Leaves out the code of other classes,
/// which would cost registers. The manifold is no result by value: each copy takes 350 bytes of a lane's
/// stack.
template <PairClass C>
SS_HD void collide_class(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                         const ShapeLibrary& library, double margin, Manifold& m) {
  static_assert(C != PairClass::mesh);
  const bool turned = a.kind > b.kind;
  const Vec<double, 3> origin = turned ? pa.x : pb.x;
  const narrow::Convex ca =
      turned ? narrow::make_convex(b, pb, origin, library) : narrow::make_convex(a, pa, origin, library);
  const narrow::Convex cb =
      turned ? narrow::make_convex(a, pa, origin, library) : narrow::make_convex(b, pb, origin, library);
  if constexpr (C == PairClass::search) narrow::collide_convex(ca, cb, margin, m);
  else narrow::collide_by_formula(ca, cb, margin, m);
  for (int i = 0; i < m.count; ++i) m.points[i].point += origin;
  if (turned) m.normal = -m.normal;
}

}  // namespace stickslip
