// Spheres and capsules: from the distance of a point or a segment.
#pragma once

#include "gpu/geometry/collide_convex.h"
#include "gpu/geometry/distance_grid.h"

namespace stickslip::narrow {

/// Of p in the shape's frame; `half` sizes.
SS_HD inline SurfaceDistance box_distance(const V3& p, const V3& half) {
  const V3 beyond = max(p, -p) - half;
  const V3 outside = max(beyond, V3{0, 0, 0});
  const double d2 = norm2(outside);
  V3 n{0, 0, 0};
  if (d2 > 0) {
    const double d = std::sqrt(d2);
    for (int i = 0; i < 3; ++i) n[i] = (p[i] < 0 ? -outside[i] : outside[i]) / d;
    return {d, n};
  }
  const int axis = largest_axis(beyond);
  n[axis] = p[axis] < 0 ? -1.0 : 1.0;
  return {beyond[axis], n};
}

SS_HD inline SurfaceDistance cylinder_distance(const V3& p, const V3& size) {
  const double across = std::sqrt(p[0] * p[0] + p[2] * p[2]);
  // On the axis any radial direction will do.
  const V3 radial = across > 0 ? V3{p[0] / across, 0.0, p[2] / across} : V3{1.0, 0.0, 0.0};
  const V3 y{0.0, p[1] < 0 ? -1.0 : 1.0, 0.0};
  const double r = across - size[0], h = std::abs(p[1]) - size[1];
  if (r <= 0 && h <= 0) return r > h ? SurfaceDistance{r, radial} : SurfaceDistance{h, y};
  if (r <= 0) return {h, y};
  if (h <= 0) return {r, radial};
  const double d = std::sqrt(r * r + h * h);
  return {d, (r / d) * radial + (h / d) * y};
}

/// The point of the capsule's core nearest to p.
SS_HD inline V3 nearest_on_core(const Convex& c, const V3& p) {
  if (c.kind == ShapeKind::sphere) return c.x;
  const V3 axis = c.r.column(1);
  return c.x + clamped(dot(p - c.x, axis), -c.size[1], c.size[1]) * axis;
}

/// Two points with radii as one contact; `otherwise` is the normal when they coincide.
SS_HD inline Manifold point_pair(const V3& pa, double ra, const V3& pb, double rb, const V3& otherwise,
                                 double margin) {
  const V3 apart = pa - pb;
  const double d2 = norm2(apart), most = ra + rb + margin;
  if (d2 > most * most) return no_contact();
  const double d = std::sqrt(d2);
  const V3 n = d2 > 1e-24 * (ra + rb) * (ra + rb) && d > 0 ? apart / d : otherwise;
  return one_point(n, 0.5 * (pa + pb + (rb - ra) * n), d - ra - rb, 0);
}

/// A sphere (a) against a sphere, capsule, box or cylinder.
SS_HD_LARGE inline Manifold collide_sphere(const Convex& a, const Convex& b, double margin) {
  if (b.kind == ShapeKind::sphere) return point_pair(a.x, a.radius, b.x, b.radius, {0, 1, 0}, margin);
  if (b.kind == ShapeKind::capsule)
    return point_pair(a.x, a.radius, nearest_on_core(b, a.x), b.radius, b.r.column(0), margin);
  const V3 p = transposed_times(b.r, a.x - b.x);
  const SurfaceDistance at =
      b.kind == ShapeKind::box ? box_distance(p, b.size) : cylinder_distance(p, b.size);
  const double gap = at.distance - a.radius;
  if (gap > margin) return no_contact();
  const V3 n = b.r * at.normal;
  return one_point(n, a.x - (0.5 * (at.distance + a.radius)) * n, gap, 0);
}

/// Two capsules: where they are nearest, or both ends of what they share when nearly parallel.
SS_HD_LARGE inline Manifold collide_capsules(const Convex& a, const Convex& b, double margin) {
  const V3 u = a.r.column(1), v = b.r.column(1), c = a.x - b.x;
  const double ha = a.size[1], hb = b.size[1], cosine = dot(u, v), sine2 = norm2(cross(u, v));
  const double cu = dot(c, u), cv = dot(c, v);
  // Of the square distance |c + s u - t v|^2: s given t, then t given s, each within its segment.
  double s = clamped(sine2 > 1e-12 ? (cosine * cv - cu) / sine2 : -cu, -ha, ha);
  const double t = clamped(cv + s * cosine, -hb, hb);
  s = clamped(t * cosine - cu, -ha, ha);
  // Crossing axes leave across both; axes on one line to any side.
  const V3 otherwise = sine2 > 1e-12 ? cross(u, v) / std::sqrt(sine2) : b.r.column(0);
  const Manifold one = point_pair(a.x + s * u, a.radius, b.x + t * v, b.radius, otherwise, margin);
  if (one.count == 0 || sine2 > 1e-4) return one;
  // The interval of s over which b lies beside a.
  const double middle = -cu, reach_b = hb * std::abs(cosine);
  const double low = larger(middle - reach_b, -ha), high = smaller(middle + reach_b, ha);
  if (!(high - low > 1e-3 * (a.radius + b.radius))) return one;
  Manifold two = one;
  two.count = 0;
  for (int k = 0; k < 2; ++k) {
    const double at = k ? high : low;
    const V3 pa = a.x + at * u, pb = b.x + clamped(cv + at * cosine, -hb, hb) * v;
    const double gap = dot(one.normal, pa - pb) - a.radius - b.radius;
    if (gap > margin) continue;
    two.points[two.count++] = {0.5 * (pa + pb + (b.radius - a.radius) * one.normal), gap,
                               static_cast<std::uint32_t>(k)};
  }
  return two.count == 2 ? two : one;
}

}  // namespace stickslip::narrow
