// Points of an elastic surface against rigid shapes: signed distances, and the nearest point of a triangle.
#pragma once

#include "gpu/collide/shape_view.h"
#include "gpu/geometry/collide_mesh.h"

namespace stickslip {

/// A material point of an elastic solid: sum of weights times its nodes (-1 for none).
struct SurfacePoint {
  Vec3i nodes{-1, -1, -1};
  std::int32_t unused = 0;
  Vec<double, 3> weights{0, 0, 0};
};

/// A point whose free nodes have less weight than this moves with its scripted nodes.
inline constexpr double kLeastFreeWeight = 0.1;

/// Weight of the nodes without a script; `scripted`: per node.
SS_HD inline double free_weight(const SurfacePoint& p, const std::uint8_t* scripted) {
  double sum = 0;
  for (int c = 0; c < 3; ++c)
    if (p.nodes[c] >= 0 && scripted[p.nodes[c]] == 0) sum += p.weights[c];
  return sum;
}

/// A contact gives the free nodes of a point 1 / (their weight) times the velocity that the point lacks. Near
/// scripted nodes that is without bound, so that a step could throw a node away by any distance. Such a point
/// gets the velocity of its scripted nodes, and its impulse acts on these.
SS_HD inline void follow_scripts(const std::uint8_t* scripted, SurfacePoint& p) {
  const double free = free_weight(p, scripted);
  if (!(free < kLeastFreeWeight)) return;
  for (int c = 0; c < 3; ++c)
    if (p.nodes[c] >= 0) p.weights[c] = scripted[p.nodes[c]] != 0 ? p.weights[c] / (1 - free) : 0.0;
}

/// A point of a triangle counts as one of its corners if it is nearer to the shape by less than `no_nearer`
/// times the triangle's span, and as one of an edge if the weight of the opposite corner is below `on_edge`.
/// Near round shapes the nearest point is known precisely. Near others it jumps, where faces and edges are
/// almost parallel to the triangle, and shallow points beside corners make contacts redundant.
struct TouchLimits {
  narrow::TriangleDescent descent;
  double no_nearer, on_edge;
};
SS_HD constexpr TouchLimits touch_limits(bool is_round) {
  return is_round ? TouchLimits{{40, true}, 1e-3, 1e-4} : TouchLimits{{24, false}, 0.02, 0.02};
}

/// A surface point near a rigid shape or half-space.
struct SurfaceTouch {
  Vec<double, 3> weights;  // of the corners
  Vec<double, 3> point;    // [m] world
  SurfaceDistance at;      // with the outward normal of the other surface
};

namespace elastic_detail {

using V3 = Vec<double, 3>;

/// A shape in its pose; gives the signed distance at any point in world axes.
struct PlacedShape {
  narrow::Convex convex;
  narrow::PlacedMesh mesh;
  bool is_mesh;

  SS_HD TouchLimits limits() const { return touch_limits(!is_mesh && convex.radius > 0); }
  SS_HD SurfaceDistance distance(const V3& p) const {
    if (!is_mesh) return narrow::convex_distance(convex, p);
    const double beyond = mesh.beyond_grid(p);
    SurfaceDistance at = mesh.field(p);
    if (beyond > at.distance) at.distance = beyond;
    return at;
  }
};

SS_HD inline PlacedShape placed_shape(const Shape& shape, const Pose& body, const ShapeLibrary& library) {
  PlacedShape p{};
  p.is_mesh = shape.kind == ShapeKind::mesh;
  if (p.is_mesh) p.mesh = narrow::place_mesh(shape, body, {0, 0, 0}, library);
  else p.convex = narrow::make_convex(shape, body, {0, 0, 0}, library);
  return p;
}

}  // namespace elastic_detail

/// The point of the triangle t where the shape is nearest or deepest. False where it is farther than
/// `margin`, or no nearer than a corner: corners are tested as nodes.
SS_HD_LARGE inline bool nearest_in_triangle(const elastic_detail::PlacedShape& shape,
                                            const Vec<double, 3> (&t)[3], double margin,
                                            SurfaceTouch& touch) {
  using V3 = Vec<double, 3>;
  const V3 center = (1.0 / 3) * (t[0] + t[1] + t[2]);
  double span = 0, corners = 1e300;
  for (const V3& p : t) span = narrow::larger(span, norm(p - center));
  const SurfaceDistance at = shape.distance(center);
  if (at.distance > span + margin) return false;
  for (const V3& p : t) corners = narrow::smaller(corners, shape.distance(p).distance);
  const TouchLimits limits = shape.limits();
  const auto lowest =
      narrow::descend_in_triangle([&](const V3& q) { return shape.distance(q); }, t, center, span,
                                  limits.descent, {{1.0 / 3, 1.0 / 3, 1.0 / 3}, center, at});
  if (lowest.at.distance > margin || lowest.at.distance > corners - limits.no_nearer * span) return false;
  touch = {lowest.w, lowest.p, lowest.at};
  return true;
}

}  // namespace stickslip
