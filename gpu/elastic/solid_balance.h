// SolidBalance, NodeMotion: for checks of the elastic solids' velocities at the end of a step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/law/drag_check.h"
#include "gpu/math/vec.h"

namespace stickslip {

/// The mouse spring at one corner of the dragged triangle.
struct SolidPull {
  Vec3i nodes{-1, -1, -1};
  Vec<double, 3> weights{0, 0, 0}, targets[3] = {};
  double stiffness = 0;  // [N/m]
};

/// Squared residuals [J] of A v = f + J in the norm of the inverse resistances, over the nodes without a
/// script.
struct SolidBalance {
  double free2 = 0;      // |f - A v_t|^2, with the velocities v_t at the start of the step
  double loaded2 = 0;    // |f + J - A v_t|^2
  double left2 = 0;      // |f + J - A v|^2, with those at its end
  double rounding2 = 0;  // an estimate of what rounding alone leaves

  /// The residual at the end beyond rounding, relative to the two others, whose sum is |J| at least.
  double residual() const {
    if (std::isnan(left2)) return std::numeric_limits<double>::infinity();
    const double left = std::sqrt(left2) - std::sqrt(rounding2);
    return left > 0 ? left / (std::sqrt(free2) + std::sqrt(loaded2)) : 0;
  }
};

struct AddBalance {
  SS_HD SolidBalance operator()(const SolidBalance& a, const SolidBalance& b) const {
    return {a.free2 + b.free2, a.loaded2 + b.loaded2, a.left2 + b.left2, a.rounding2 + b.rounding2};
  }
};

/// What changes the momenta of the nodes in a step besides contacts and elasticity. Backend memory.
struct NodeMotion {
  const Real* mass;                 // [kg]
  const std::uint8_t* held;         // 1: scripted
  const std::int32_t* object;       // of each node
  const std::int32_t* group;        // of each object, see spring_groups
  const std::uint8_t* tied;         // of each object, see tied_to_world
  const Vec3 *at, *before, *after;  // at the start of the step [m], [m/s]; velocities at its end
  const Vec3* acceleration;         // [m/s^2] besides gravity
  const double* resistance;         // see ElasticSolids::resistance
  double dt, gravity;               // [s]; [m/s^2] along y
  SolidPull pull;
  DragCheck drag;

  /// An estimate of what rounding of a node's position and velocities changes in its equation [N s]; the
  /// factor covers the sum over its elements.
  SS_HD double rounding(std::size_t i) const {
    constexpr double kRounding = 32 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    const double speed = norm(before[i].template cast<double>()) + norm(after[i].template cast<double>()) +
                         norm(at[i].template cast<double>()) / dt;
    return kRounding * (static_cast<double>(mass[i]) + resistance[i]) * speed;
  }
};

}  // namespace stickslip
