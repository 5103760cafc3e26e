// collide: the manifold of any two shapes.
#pragma once

#include "gpu/geometry/collide_box.h"
#include "gpu/geometry/collide_half_space.h"
#include "gpu/geometry/collide_mesh.h"

namespace stickslip {

/// The kind of test for two shapes.
enum class PairTest : std::uint8_t { sphere, boxes, capsules, convex, mesh };

/// Of any two shapes, in any order: the one table of tests.
SS_HD constexpr PairTest pair_test(ShapeKind a, ShapeKind b) {
  const ShapeKind low = a < b ? a : b, high = a < b ? b : a;
  if (high == ShapeKind::mesh) return PairTest::mesh;
  if (low == ShapeKind::sphere && high != ShapeKind::hull) return PairTest::sphere;
  if (low == high && low == ShapeKind::box) return PairTest::boxes;
  if (low == high && low == ShapeKind::capsule) return PairTest::capsules;
  return PairTest::convex;
}

namespace narrow {

/// Two shapes whose test is a formula, neither `convex` nor `mesh`; the kind of a not after that of b. Boxes
/// may need a search after all.
SS_HD inline void collide_by_formula(const Convex& a, const Convex& b, double margin, Manifold& m) {
  const PairTest test = pair_test(a.kind, b.kind);
  if (test == PairTest::sphere) m = collide_sphere(a, b, margin);
  else if (test == PairTest::capsules) m = collide_capsules(a, b, margin);
  else if (!collide_boxes(a, b, margin, m)) collide_convex(a, b, margin, m);
}

/// Two convex shapes, the kind of a not after that of b.
SS_HD inline Manifold collide_convex_ordered(const Convex& a, const Convex& b, double margin) {
  Manifold m;
  if (pair_test(a.kind, b.kind) == PairTest::convex) collide_convex(a, b, margin, m);
  else collide_by_formula(a, b, margin, m);
  return m;
}

SS_HD inline Manifold deepest_part(const ManyManifolds& many) {
  int deepest = -1;
  double least = 0;
  for (int k = 0; k < many.count; ++k)
    for (int i = 0; i < many.parts[k].count; ++i)
      if (deepest < 0 || many.parts[k].points[i].gap < least)
        deepest = k, least = many.parts[k].points[i].gap;
  return deepest < 0 ? no_contact() : many.parts[deepest];
}

/// Any two shapes, the kind of a not after that of b.
SS_HD_LARGE inline Manifold collide_ordered(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                                            const ShapeLibrary& library, double margin) {
  if (pair_test(a.kind, b.kind) == PairTest::mesh)
    return deepest_part(collide_mesh(a, pa, b, pb, library, margin));
  const V3 origin = pb.x;
  const Convex ca = make_convex(a, pa, origin, library), cb = make_convex(b, pb, origin, library);
  Manifold m = collide_convex_ordered(ca, cb, margin);
  for (int i = 0; i < m.count; ++i) m.points[i].point += origin;
  return m;
}

SS_HD_LARGE inline Manifold mesh_on_half_space(const PlacedMesh& m, const HalfSpace& h, double margin) {
  PointList list;
  list.normal = h.n;
  list.count = 0;
  for (std::int32_t i = 0; i < m.mesh->vertex_count; ++i) {
    const V3 p = m.vertex(i);
    const double gap = h.gap(p);
    if (gap <= margin) list.add(p - (0.5 * gap) * h.n, gap, static_cast<std::uint32_t>(i));
  }
  return to_manifold(list);
}

}  // namespace narrow

/// Contact points of shape a at body pose `pa` and shape b at `pb` (their own `pose` fields are applied
/// inside) that are at most `margin` apart; count = 0 when there is none. Features do not depend on the order
/// of evaluation. Of a mesh only the contacts in the direction of the deepest; collide_mesh has all.
SS_HD inline Manifold collide(const Shape& a, const Pose& pa, const Shape& b, const Pose& pb,
                              const ShapeLibrary& library, double margin) {
  const bool turned = a.kind > b.kind;
  Manifold m = turned ? narrow::collide_ordered(b, pb, a, pa, library, margin)
                      : narrow::collide_ordered(a, pa, b, pb, library, margin);
  if (turned) m.normal = -m.normal;
  return m;
}

/// A shape against the half-space dot(normal, x) <= offset, which is side b: the manifold's normal is
/// `normal`.
SS_HD inline Manifold collide_half_space(const Shape& a, const Pose& pa, const Vec<double, 3>& normal,
                                         double offset, const ShapeLibrary& library, double margin) {
  const narrow::HalfSpace space{normal, offset};
  if (a.kind == ShapeKind::mesh)
    return narrow::mesh_on_half_space(narrow::place_mesh(a, pa, {0, 0, 0}, library), space, margin);
  const narrow::Convex c = narrow::make_convex(a, pa, {0, 0, 0}, library);
  return narrow::convex_on_half_space(c, space, margin);
}

}  // namespace stickslip
