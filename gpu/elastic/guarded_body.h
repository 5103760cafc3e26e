// The time of impact of a triangle of a solid, or of a segment of a rod, and a shape of a rigid body that
// penetration_guard keeps apart, and the contact made of it. Pure functions.
//
// Conservative advancement [Mirtich96]. While the sides are separated along a fixed unit n, from the
// body to the triangle, their distance along n falls at most at the rate
//   max_i (-n . p_i) + n . c + |n x phi| R,
// p_i: displacements of the corners, c and phi: displacement and rotation of the body, R: reach of the shape
// from the body's centre. This holds for the whole step, not to first order: a point at `arm` moves by
// n . (phi x arm) = arm . (n x phi).
//
// Where a body turns beside a near triangle, or both turn together, the points that move fastest are not
// those that are near: this rate would take hundreds of steps. So longer steps are tried first, along a unit
// n that changes from n_0 to n_1 (GuardedTriangle::sag).
#pragma once

#include "gpu/ccd/swept_pair.h"
#include "gpu/elastic/guarded_pair.h"
#include "gpu/geometry/gjk.h"

namespace stickslip {

/// The motion of a rigid body in a step, t in [0, 1].
struct BodyPath {
  Pose start;
  Vec<double, 3> shift, turn;  // [m], [rad]: of the centre, rotation vector

  SS_HD Pose at(double t) const { return {start.x + t * shift, normalized(rotation_by(t * turn) * start.q)}; }
};

/// A triangle and a shape at one time.
struct TriangleGap {
  double distance = -1;    // [m] at most the distance; < 0: overlap
  Vec<double, 3> normal;   // unit, from the shape to the triangle
  Vec<double, 3> weights;  // of the corners, at the nearest point
};

namespace elastic_detail {

/// The triangle as a hull without faces; `view` has to outlive it. Of a segment the last corner repeats.
SS_HD inline narrow::Convex triangle_hull(const V3 (&corner)[3], bool is_segment, HullView& view) {
  view = HullView{};
  view.vertices = corner;
  view.vertex_count = is_segment ? 2 : 3;
  return {ShapeKind::hull, {0, 0, 0}, 0, &view, Mat<double, 3>::identity(), {0, 0, 0}};
}

/// Exact, and a lower bound even if the nearest points are not: along any direction.
SS_HD_LARGE inline TriangleGap convex_gap(const narrow::Convex& shape, const V3 (&corner)[3],
                                          bool is_segment) {
  HullView view;
  const narrow::Convex triangle = triangle_hull(corner, is_segment, view);
  const V3 center = (1.0 / 3) * (corner[0] + corner[1] + corner[2]);
  const narrow::Nearest near = narrow::nearest_points(triangle, shape, {0, 0, 0}, center - shape.x, 1e150, 0);
  if (!near.apart) return {};
  const V3 a = corner[0] - near.on_a, b = corner[1] - near.on_a;
  const narrow::Weights on = is_segment ? narrow::nearest_on_segment(a, b)
                                        : narrow::nearest_on_triangle(a, b, corner[2] - near.on_a);
  return {narrow::separation(triangle, shape, near.normal) - shape.radius,
          near.normal,
          {on.w[0], on.w[1], on.w[2]}};
}

/// To the resolution of the shape's grid: the least of points of the triangle that are a grid spacing apart,
/// then descent. Far away a lower bound only.
SS_HD_LARGE inline TriangleGap field_gap(const PlacedShape& shape, const V3 (&corner)[3]) {
  constexpr int kMostParts = 16;
  const V3 center = (1.0 / 3) * (corner[0] + corner[1] + corner[2]);
  double span = 0;
  for (const V3& p : corner) span = narrow::larger(span, norm(p - center));
  const SurfaceDistance middle = shape.distance(center);
  if (middle.distance > 3 * span) return {middle.distance - span, middle.normal, {1.0 / 3, 1.0 / 3, 1.0 / 3}};
  const double wanted = std::ceil(2 * span / shape.mesh.mesh->field.spacing);
  const int parts = wanted < 1 ? 1 : wanted < kMostParts ? static_cast<int>(wanted) : kMostParts;
  SurfaceDistance best = middle;
  V3 weights{1.0 / 3, 1.0 / 3, 1.0 / 3};
  const auto keep_nearer = [&](const V3& w) {
    const SurfaceDistance at = shape.distance(w[0] * corner[0] + w[1] * corner[1] + w[2] * corner[2]);
    if (!(at.distance < best.distance)) return false;
    best = at;
    weights = w;
    return true;
  };
  for (int i = 0; i <= parts; ++i)
    for (int k = 0; i + k <= parts; ++k)
      keep_nearer((1.0 / parts) *
                  V3{static_cast<double>(i), static_cast<double>(k), static_cast<double>(parts - i - k)});
  double step = 1.0 / parts;
  for (int round = 0; round < 16 && step > 1e-3; ++round) {
    const V3 slope{dot(best.normal, corner[0] - center), dot(best.normal, corner[1] - center),
                   dot(best.normal, corner[2] - center)};
    if (!keep_nearer(narrow::onto_triangle(weights - (step / span) * slope))) step *= 0.5;
  }
  return {best.distance, best.normal, weights};
}

SS_HD inline TriangleGap gap_of(const PlacedShape& shape, const V3 (&corner)[3], bool is_segment) {
  return shape.is_mesh ? field_gap(shape, corner) : convex_gap(shape.convex, corner, is_segment);
}

/// [m] Bounds the distance from the centre of the body of those points of a shape that its rotation moves:
/// without the sphere around the centre of a round shape.
SS_HD inline double turning_reach(const Shape& shape, double radius) {
  return norm(shape.pose.x) + (shape.kind == ShapeKind::sphere ? 0.0 : radius);
}

}  // namespace elastic_detail

/// A triangle, or a segment {a, b, b}, along its nodes' motion and a shape along its body's.
struct GuardedTriangle {
  Vec<double, 3> origin;      // [m] world: the centre of the body at the start
  Vec<double, 3> x[3], p[3];  // from the origin
  Shape shape;
  BodyPath path;   // from the origin
  double turning;  // [m] reach of the shape's points that its rotation moves
  double radius;   // [m] from the midsurface of a thin object to its surface
  bool is_segment;

  SS_HD void corners_at(double t, Vec<double, 3> (&y)[3]) const {
    for (int i = 0; i < 3; ++i) y[i] = x[i] + t * p[i];
  }
  /// Distances are those of the midsurface.
  SS_HD TriangleGap gap(double t, const ShapeLibrary& library) const {
    Vec<double, 3> y[3];
    corners_at(t, y);
    return elastic_detail::gap_of(elastic_detail::placed_shape(shape, path.at(t), library), y, is_segment);
  }
  /// Fields of meshes are not convex: no plane separates them.
  SS_HD bool is_convex() const { return shape.kind != ShapeKind::mesh; }
  /// [m] How fast the distance may fall from t on, per unit of t.
  SS_HD double closing(double t, const Vec<double, 3>& n) const {
    if (!is_convex()) return passing(t);
    double most = -1e300;
    for (const Vec<double, 3>& q : p) most = narrow::larger(most, -dot(n, q));
    return most + dot(n, path.shift) + turning * norm(cross(n, path.turn));
  }
  /// [m] How fast points of the triangle move in the frame of the body from t on, at most. Their velocity is
  /// linear over the triangle and in t, so that it is largest at a corner, at t or at 1.
  SS_HD double passing(double t) const {
    double most = 0;
    for (int i = 0; i < 3; ++i) {
      const Vec<double, 3> q = p[i] - path.shift;
      const double begin = norm(q - cross(path.turn, x[i] + t * q)),
                   end = norm(q - cross(path.turn, x[i] + q));
      most = narrow::larger(most, narrow::larger(begin, end));
    }
    return most;
  }
  /// [m] From t to t + length, the distance from a convex shape is at least what is between its values at
  /// both ends, less this. Let n change linearly between n_0 and n_1, the units there, and u from 0 to 1.
  /// With x_i + t p_i from the centre, n . x_i is then a quadratic, which differs from its chord by u (1 - u)
  /// length (n_1 - n_0) . p_i. The support function of the shape is convex and has the Lipschitz constant R;
  /// its argument R(t)' n differs from its chord by at most length^2 / 8 times its second derivative |phi|^2
  /// + 2 |phi| |n_1 - n_0| / length.
  SS_HD double sag(double length, const Vec<double, 3>& n_0, const Vec<double, 3>& n_1) const {
    double fastest = 0;
    for (const Vec<double, 3>& q : p) fastest = narrow::larger(fastest, norm(q - path.shift));
    const double spin = norm(path.turn), bend = norm(n_1 - n_0);
    return length * (0.25 * bend * fastest + 0.125 * turning * spin * (length * spin + 2 * bend));
  }
  /// [m] The part of `radius` that is kept from a distance at the start.
  SS_HD double guarded_radius(const GuardedMotion& m, double distance) const {
    return static_cast<double>(m.guarded(static_cast<Real>(radius), static_cast<Real>(distance)));
  }
  /// [m] From storing positions x + t p of the nodes.
  SS_HD double rounding() const {
    double reach = 0;
    for (int i = 0; i < 3; ++i) reach = narrow::larger(reach, norm(origin + x[i]) + norm(p[i]));
    return storage_rounding(static_cast<Real>(reach));
  }
};

namespace elastic_detail {

/// The longest part tried of the time from t to 1, but longer than `step`, in which the distance, `gap` at t,
/// stays above `floor`: moves t and `gap` to its end. False if there is none.
SS_HD_LARGE inline bool advance_far(const GuardedTriangle& triangle, const ShapeLibrary& library,
                                    double floor, double step, double& t, TriangleGap& gap) {
  if (!triangle.is_convex()) return false;
  for (double length = 1 - t; length > 2 * step; length *= 0.5) {
    const TriangleGap end = triangle.gap(t + length, library);
    if (!(narrow::smaller(gap.distance, end.distance) - triangle.sag(length, gap.normal, end.normal) > floor))
      continue;
    t += length;
    gap = end;
    return true;
  }
  return false;
}

}  // namespace elastic_detail

/// The largest t in [0, 1] found at which the triangle keeps its share of the gap to the shape; kSafe if
/// it does so for the whole step, kUnguarded if the two overlap or touch at the start.
SS_HD_LARGE inline Real time_of_impact(const GuardedMotion& m, const GuardedTriangle& triangle,
                                       const ShapeLibrary& library) {
  constexpr int kMostSteps = 128;
  TriangleGap gap = triangle.gap(0, library);
  if (!(gap.distance > static_cast<double>(m.touching()))) return kUnguarded;
  const double thickness = triangle.guarded_radius(m, gap.distance), free = gap.distance - thickness;
  const double kept = static_cast<double>(m.kept(static_cast<Real>(free))) * free + triangle.rounding();
  const double floor = thickness + kept;
  double t = 0;
  for (int k = 0; k < kMostSteps; ++k) {
    const double closing = triangle.closing(t, gap.normal), left = gap.distance - floor;
    if (!(closing > 0)) return gap.distance > 0 ? kSafe : static_cast<Real>(t);
    if (!(left > 0)) return static_cast<Real>(t);
    const double step = left / closing;
    if (t + step >= 1) return kSafe;
    if (elastic_detail::advance_far(triangle, library, floor, step, t, gap)) {
      if (t >= 1) return kSafe;
      continue;
    }
    t += step;
    if (left < 0.1 * kept && step < 0.05 * t) return static_cast<Real>(t);
    gap = triangle.gap(t, library);
  }
  return static_cast<Real>(t);
}

/// The contact that keeps them from crossing: between the points that are nearest at the time of impact t,
/// along their direction n there. The arm on the body is that at t. With the present velocities,
/// gap + dt u_N is the distance along n of these material points at the end. Sides are left open.
SS_HD_LARGE inline RigidContact crossing_contact(const GuardedMotion& m, const GuardedTriangle& triangle,
                                                 const Vec3i& nodes, Real t, const ShapeLibrary& library,
                                                 SurfacePoint& point) {
  using V3 = Vec<double, 3>;
  const double at = static_cast<double>(t);
  const TriangleGap near = triangle.gap(at, library);
  const V3 &w = near.weights, &n = near.normal, &turn = triangle.path.turn;
  point = {nodes, 0, w};
  if (triangle.is_segment) point = {{nodes[0], nodes[1], -1}, 0, {w[0], w[1] + w[2], 0}};
  V3 start{0, 0, 0}, touching{0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    start += w[i] * triangle.x[i];
    touching += w[i] * (triangle.x[i] + at * triangle.p[i]);
  }
  const V3 arm = touching - near.distance * n - at * triangle.path.shift;
  const V3 turned = rotation_by((1 - at) * turn).matrix() * arm;
  const double thickness = triangle.guarded_radius(m, triangle.gap(0, library).distance);
  return {-1, -1, triangle.origin + arm, n, dot(n, start + cross(turn, arm) - turned) - thickness, 0, -1};
}

}  // namespace stickslip
