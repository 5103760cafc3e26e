// DragCheck: the drag of the air on nodes at the end of a step, for the judge. It shares no formula with the
// terms of gpu/energy that steps minimise or linearise.
#pragma once

#include <cmath>

#include "gpu/model/air_faces.h"
#include "gpu/model/wind.h"

namespace stickslip {

/// Pointers are backend memory; those of nodes have one entry per node.
struct DragCheck {
  const AirFace* faces = nullptr;
  std::size_t count = 0;
  const Vec3* start = nullptr;      // [m] at the start of the step
  const Vec3* velocity = nullptr;   // [m/s] at its end
  const Vec3* linear_at = nullptr;  // if not null: the force is linear around these velocities
  Wind wind;

  /// Corners of faces, three each; a segment leaves out the last one. None without air.
  SS_HD std::size_t corners() const { return wind.blows() ? 3 * count : 0; }
  SS_HD const AirFace& face(std::size_t k) const { return faces[k / 3]; }
  /// -1: none.
  SS_HD std::int32_t node(std::size_t k) const { return face(k).nodes[static_cast<int>(k % 3)]; }

  /// [N] on that node.
  SS_HD Vec<double, 3> force(std::size_t k) const {
    using V3 = Vec<double, 3>;
    const AirFace& f = face(k);
    const std::int32_t i = node(k);
    const V3 a = start[f.nodes[0]].template cast<double>(), b = start[f.nodes[1]].template cast<double>();
    const bool is_segment = f.nodes[2] < 0;
    V3 axis = b - a;
    double straight = 0, sideways = 0;  // areas times coefficients, along the axis and across it
    if (is_segment) {
      const double length = norm(axis);
      straight = std::acos(-1.0) * f.diameter * (length / 2) * f.along;
      sideways = f.diameter * (length / 2) * f.across;
    } else {
      axis = cross(axis, start[f.nodes[2]].template cast<double>() - a);
      const double third = norm(axis) / 2 / 3;
      straight = third * f.across;
      sideways = third * f.along;
    }
    if (!(norm(axis) > 0)) return {0, 0, 0};
    axis = (1 / norm(axis)) * axis;
    const V3 air = wind(start[i].template cast<double>());
    const V3 now = velocity[i].template cast<double>() - air,
             at = linear_at != nullptr ? linear_at[i].template cast<double>() - air : now;
    const V3 straight_at = dot(at, axis) * axis, change = now - at,
             straight_change = dot(change, axis) * axis;
    return (-wind.density / 2) * (straight * square(straight_at, straight_change) +
                                  sideways * square(at - straight_at, change - straight_change));
  }

 private:
  /// |u| u, and its change to first order along d.
  SS_HD static Vec<double, 3> square(const Vec<double, 3>& u, const Vec<double, 3>& d) {
    const double size = norm(u);
    return size > 0 ? size * (u + d) + (dot(u, d) / size) * u : Vec<double, 3>{0, 0, 0};
  }
};

}  // namespace stickslip
