// Drag of air on triangles of cloth and segments of rods, as a dissipation potential.
#pragma once

#include <cmath>

#include "gpu/energy/corner_values.h"
#include "gpu/math/mat.h"
#include "gpu/model/wind.h"

namespace stickslip {

/// Where air finds the nodes. Backend memory, one entry per node.
struct AirMotion {
  const Vec3* start = nullptr;      // [m] at the start of the step, for areas and axes; null: no air acts
  const Vec3* still = nullptr;      // velocities are (x - still) / dt
  const Vec3* velocity = nullptr;   // if not null: these are [m/s]
  const Vec3* linear_at = nullptr;  // if not null: forces are linear in velocities, with this one's slope

  SS_HD bool acts(const Wind& wind) const { return start != nullptr && wind.blows(); }
  SS_HD Vec3 velocity_of(std::int32_t node, const Vec3* x, Real dt) const {
    return velocity != nullptr ? velocity[node] : (x[node] - still[node]) / dt;
  }
};

/// The drag coefficients of a Material.
struct DragMaterial {
  Real across, along;  // Material::drag, skin_drag
};
inline DragMaterial drag_material(const Material& m) {
  return {static_cast<Real>(m.drag), static_cast<Real>(m.skin_drag)};
}

/// The drag of one corner at the velocity u relative to the air. With its parts u_a along a unit axis and
/// u_l across,
///   force = -axial |u_a| u_a - lateral |u_l| u_l,   power potential D = axial |u_a|^3 / 3 + lateral |u_l|^3
///   / 3.
/// D is convex: its Hessian needs no projection.
struct CornerDrag {
  Vec3 axis;
  Real axial, lateral;  // [kg/m]

  SS_HD Real potential(const Vec3& u) const {
    const Real a = std::fabs(dot(u, axis)), l = norm(u - dot(u, axis) * axis);
    return (axial * a * a * a + lateral * l * l * l) / Real(3);
  }
  /// dD/du, the negative force.
  SS_HD Vec3 resistance(const Vec3& u) const {
    const Real a = dot(u, axis);
    const Vec3 across = u - a * axis;
    return (axial * std::fabs(a) * a) * axis + (lateral * norm(across)) * across;
  }
  SS_HD Mat3 slope(const Vec3& u) const {
    const Real a = dot(u, axis);
    const Vec3 across = u - a * axis;
    const Real l = norm(across);
    const Mat3 along = outer(axis, axis);
    Mat3 h = (Real(2) * axial * std::fabs(a)) * along + (lateral * l) * (Mat3::identity() - along);
    if (l > Real(0)) h += (lateral / l) * outer(across, across);
    return h;
  }
};

/// A third of a triangle: pressure along its normal, friction of both sides across it.
SS_HD inline CornerDrag triangle_drag(const Vec3& x0, const Vec3& x1, const Vec3& x2,
                                      const DragMaterial& material, double density) {
  const Vec3 area2 = cross(x1 - x0, x2 - x0);
  const Real size = norm(area2), share = static_cast<Real>(density) / Real(2) * size / Real(6);
  if (!(size > Real(0))) return {Vec3{Real(0), Real(1), Real(0)}, Real(0), Real(0)};
  return {area2 / size, share * material.across, share * material.along};
}

/// Half of a segment: the air across it and that along it act independently of each other.
SS_HD inline CornerDrag segment_drag(const Vec3& x0, const Vec3& x1, Real diameter,
                                     const DragMaterial& material, double density) {
  constexpr Real kPi = Real(3.14159265358979323846);
  const Vec3 e = x1 - x0;
  const Real length = norm(e), share = static_cast<Real>(density) / Real(2) * length * diameter / Real(2);
  if (!(length > Real(0))) return {Vec3{Real(0), Real(1), Real(0)}, Real(0), Real(0)};
  return {e / length, share * kPi * material.along, share * material.across};
}

/// The corners of one element, all with the same drag; each has the wind at its place at the start.
struct ElementDrag {
  CornerDrag drag;
  const Wind& wind;
  const AirMotion& air;
  const Vec3* x;
  Real dt;

  SS_HD Vec3 blown(std::int32_t node) const {
    return wind(air.start[node].template cast<double>()).template cast<Real>();
  }
  /// [J] dt D, whose gradient by x is the negative force.
  SS_HD Real energy(std::int32_t node) const {
    return dt * drag.potential(air.velocity_of(node, x, dt) - blown(node));
  }
  SS_HD Vec3 gradient(std::int32_t node) const {
    const Vec3 w = blown(node), v = air.velocity_of(node, x, dt);
    if (air.linear_at == nullptr) return drag.resistance(v - w);
    const Vec3 at = air.linear_at[node];
    return drag.resistance(at - w) + drag.slope(at - w) * (v - at);
  }
  /// [W] on the node, at the velocities of the air.
  SS_HD double power(std::int32_t node) const {
    return -static_cast<double>(dot(air.velocity[node], gradient(node)));
  }
  SS_HD Mat3 block(std::int32_t node) const {
    const Vec3 v = air.linear_at == nullptr ? air.velocity_of(node, x, dt) : air.linear_at[node];
    return (Real(1) / dt) * drag.slope(v - blown(node));
  }
};

}  // namespace stickslip
