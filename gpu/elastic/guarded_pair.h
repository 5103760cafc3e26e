// The time of impact of a pair that penetration_guard keeps apart, and the contact made of it. Pure
// functions.
#pragma once

#include "gpu/ccd/additive.h"
#include "gpu/ccd/half_space.h"
#include "gpu/collide/rigid_contact.h"
#include "gpu/elastic/surface_point.h"
#include "gpu/model/plane.h"

namespace stickslip {

/// Times of impact above 1: the pair is not guarded, or does not cross.
inline constexpr Real kUnguarded = Real(2), kSafe = Real(1);

/// The motion x + t p of the nodes in a step, t in [0, 1].
struct GuardedMotion {
  const Vec3 *x, *p;
  const std::int32_t* tangled;  // per node: 1 on primitives that intersect at t = 0
  const Vec3* rest;
  const std::int32_t* object;  // per node
  const Real* radius;          // [m] per node, from the midsurface of a thin object to its surface; null: 0
  Real keep;                   // [m] what contacts keep
  Real caution = Real(1);      // factor on the share of distances that is left

  /// The share of a distance that the motion leaves: a quarter of `keep`, and of smaller distances nearly
  /// all, so that they shrink slowly while contacts restore them.
  SS_HD Real kept(Real distance) const {
    const Real share = Real(0.25) * keep / distance;
    return caution * (share < Real(0.9) ? share : Real(0.9));
  }
  /// Nearer surfaces touch: no motion could be told to be safe.
  SS_HD Real touching() const { return Real(1e-6) * keep; }
  SS_HD Real radius_of(std::int32_t node) const { return radius != nullptr ? radius[node] : Real(0); }
  /// [m] Of the thickness `full` of a pair at this distance, the part that the motion keeps. Surfaces that
  /// already overlap or touch keep only their midsurfaces apart.
  SS_HD Real guarded(Real full, Real distance) const { return distance - full > touching() ? full : Real(0); }
  /// The same of a pair. Parts of one object that are nearer at rest than its thickness have no contact.
  template <class Pair>
  SS_HD Real thickness(const Vec4i& q, Real distance) const {
    if (radius == nullptr) return Real(0);
    const Real full = guarded(radius[q[0]] + radius[q[3]], distance);
    if (!(full > Real(0)) || object[q[0]] != object[q[3]]) return full;
    const Vec3 y[4] = {rest[q[0]], rest[q[1]], rest[q[2]], rest[q[3]]};
    return Pair::closest(y).d2 < full * full ? Real(0) : full;
  }

  template <class Pair>
  SS_HD Pair pair(const Vec4i& q) const {
    Pair out;
    for (int c = 0; c < 4; ++c) {
      out.x[c] = x[q[c]];
      out.p[c] = p[q[c]];
    }
    return out;
  }
  template <class Pair>
  SS_HD bool is_tangled(const Vec4i& q) const {
    bool a = false, b = false;
    for (int c = 0; c < 4; ++c) (c < Pair::kCornersOfA ? a : b) |= tangled[q[c]] != 0;
    return a && b;
  }
};

/// The largest t in [0, 1] at which the pair keeps its share of the gap, else kUnguarded.
template <class Pair>
SS_HD inline Real time_of_impact(const GuardedMotion& m, const Vec4i& q) {
  if (m.is_tangled<Pair>(q)) return kUnguarded;
  const Pair pair = m.pair<Pair>(q);
  const Real distance = distance_at(pair, Real(0));
  if (!(distance > m.touching())) return kUnguarded;
  const Real thickness = m.thickness<Pair>(q, distance), kept = m.kept(distance - thickness);
  return stays_apart(pair, kept, kSafe, thickness) ? kSafe : additive::toi(pair, kept, kSafe, thickness);
}

/// The same of a node and a half-space.
SS_HD inline Real time_of_impact(const GuardedMotion& m, const Plane& plane, std::int32_t node) {
  const Real height = dot(plane.normal, m.x[node]) - plane.offset;
  if (!(height > m.touching())) return kUnguarded;
  const Real radius = m.guarded(m.radius_of(node), height), kept = m.kept(height - radius);
  return half_space_toi(plane.normal, plane.offset + radius, m.x[node], m.p[node], kept, kSafe);
}

/// The contact that keeps the pair from crossing: between the points that are nearest at the time of impact
/// t, along their direction there. Its gap is that of these points at the start along this direction, so that
/// gap + dt u_N is, to first order, the distance at the end. Sides are left open.
template <class Pair>
SS_HD inline RigidContact crossing_contact(const GuardedMotion& m, const Vec4i& q, Real t, SurfacePoint& a,
                                           SurfacePoint& b) {
  using V3 = Vec<double, 3>;
  const Pair pair = m.pair<Pair>(q);
  Vec3 y[4];
  for (int i = 0; i < 4; ++i) y[i] = pair.x[i] + t * pair.p[i];
  const auto near = Pair::closest(y);
  a = b = SurfacePoint{};
  V3 apart{0, 0, 0}, middle{0, 0, 0};
  for (int i = 0; i < 4; ++i) {
    const double w = static_cast<double>(near.w[i]);
    const bool of_a = i < Pair::kCornersOfA;
    SurfacePoint& side = of_a ? a : b;
    const int corner = of_a ? i : i - Pair::kCornersOfA;
    side.nodes[corner] = q[i];
    side.weights[corner] = of_a ? w : -w;
    const V3 at = pair.x[i].template cast<double>();
    apart += w * at;
    middle += (of_a ? 0.5 * w : -0.5 * w) * at;
  }
  const V3 n = near.r.template cast<double>() / std::sqrt(static_cast<double>(near.d2));
  const double thickness = static_cast<double>(m.thickness<Pair>(q, distance_at(pair, Real(0))));
  return {-1, -1, middle, n, dot(n, apart) - thickness, 0, -1};
}

}  // namespace stickslip
