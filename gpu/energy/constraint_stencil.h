// Constraints between points as an augmented Lagrangian [Nocedal & Wright, 17.3]: value, gradient and
// positive semidefinite Hessian of one. With the scalar c, the multiplier m [N] and the stiffness k [N/m],
// the force
//   f = m + k (c - high) if that is positive, m + k (c - low) if that is negative, else 0
// has the potential (f^2 - m^2) / (2 k); with low = high that is m (c - low) + k/2 (c - low)^2.
// A motor has the potential limit h(c - c_t - speed dt) with Huber's function h of width `slack`.
#pragma once

#include <cmath>

#include "gpu/energy/corner_values.h"
#include "gpu/model/model.h"

namespace stickslip {

/// A NodeConstraint in backend memory, with the data of a step.
struct ConstraintStencil {
  NodeConstraint::Kind kind;
  Vec4i points;
  Vec<Real, 4> first, second;
  Real arm, low, high;
  Real speed, limit;  // of a motor; limit = 0: bounds
  Real ratio;         // of a gear
  Vec2i tips;
  // Of a gear in this step: per side the directions of y and of z at its start; c there [m].
  Vec3 axes[4];
  Real turned;
  Real mass, tet_mass, tet_stiffness;
};

struct ConstraintState {
  Real c;  // [m]
  CornerVectors gradient;
};

struct ConstraintForce {
  Real value;      // [J]
  Real force;      // dE/dc [N]
  Real stiffness;  // d2E/dc2 [N/m]
};

SS_HD inline ConstraintForce constraint_force(const ConstraintStencil& s, Real c, Real multiplier, Real k) {
  const Real up = multiplier + k * (c - s.high), down = multiplier + k * (c - s.low);
  const Real f = up > Real(0) ? up : down < Real(0) ? down : Real(0);
  return {(f * f - multiplier * multiplier) / (Real(2) * k), f, f != Real(0) ? k : Real(0)};
}

/// `wanted`: c at the end of the step if the motor is strong enough.
SS_HD inline ConstraintForce motor_force(const ConstraintStencil& s, Real c, Real wanted, Real slack) {
  const Real lead = c - wanted;
  const Real far = lead < Real(0) ? -lead : lead;
  if (far < slack) {
    const Real k = s.limit / slack;
    return {k * lead * lead / Real(2) + s.limit * slack / Real(2), k * lead, k};
  }
  return {s.limit * far, lead < Real(0) ? -s.limit : s.limit, Real(0)};
}

namespace constraint_detail {

SS_HD inline Vec3 combined(const Vec<Real, 4>& weights, const Vec3* x) {
  Vec3 sum = Vec3::zero();
  for (int i = 0; i < 4; ++i)
    if (weights[i] != Real(0)) sum += weights[i] * x[i];
  return sum;
}

/// The angle in (-pi, pi] whose multiple of a turn is nearest to `reference`.
SS_HD inline Real nearest_turn(Real angle, Real reference) {
  const Real turn = Real(2) * std::acos(Real(-1));
  return angle + turn * std::rint((reference - angle) / turn);
}

}  // namespace constraint_detail

/// Not of `coincide`. `x`: positions of the corners, those that the stencil does not use are not read.
/// `reference` [m]: of an angle, the value that the nearest representative is near to.
SS_HD inline ConstraintState constraint_state(const ConstraintStencil& s, const Vec3* x, Real reference) {
  ConstraintState state{};
  for (int i = 0; i < 4; ++i) state.gradient[i] = Vec3::zero();
  if (s.kind == NodeConstraint::Kind::product) {
    const Vec3 u = constraint_detail::combined(s.first, x), w = constraint_detail::combined(s.second, x);
    state.c = dot(u, w) / s.arm;
    for (int i = 0; i < 4; ++i) state.gradient[i] = (s.first[i] * w + s.second[i] * u) / s.arm;
  } else if (s.kind == NodeConstraint::Kind::distance) {
    const Vec3 d = x[0] - x[1];
    state.c = norm(d);
    if (state.c > Real(0)) state.gradient[0] = d / state.c;
    state.gradient[1] = -state.gradient[0];
  } else if (s.kind == NodeConstraint::Kind::gear) {
    const Real size = s.ratio < Real(0) ? -s.ratio : s.ratio;
    const Real arm = size > Real(1) ? s.arm / size : s.arm;
    state.c = s.turned;
    for (int side = 0; side < 2; ++side) {
      const Real factor = side == 0 ? arm : -s.ratio * arm;
      const Vec3 u = x[2 * side + 1] - x[2 * side], y = s.axes[2 * side], z = s.axes[2 * side + 1];
      const Real p = dot(u, y), q = dot(u, z);
      state.c += factor * std::atan2(q, p);
      state.gradient[2 * side + 1] = factor / (p * p + q * q) * (p * z - q * y);
      state.gradient[2 * side] = -state.gradient[2 * side + 1];
    }
  } else {
    // tan(angle) = q / p with p = u . y, q = u . z.
    const Vec3 u = x[0] - x[1], y = x[2] - x[1], z = x[3] - x[1];
    const Real p = dot(u, y), q = dot(u, z), r2 = p * p + q * q;
    state.c = s.arm * constraint_detail::nearest_turn(std::atan2(q, p), reference / s.arm);
    const Real dp = -s.arm * q / r2, dq = s.arm * p / r2;
    state.gradient[0] = dp * y + dq * z;
    state.gradient[2] = dp * u;
    state.gradient[3] = dq * u;
    state.gradient[1] = -(state.gradient[0] + state.gradient[2] + state.gradient[3]);
  }
  return state;
}

/// [rad] of the two sides of a gear, since the start of the step.
SS_HD inline Real largest_turn(const ConstraintStencil& s, const Vec3* x) {
  Real most = Real(0);
  for (int side = 0; side < 2; ++side) {
    const Vec3 u = x[2 * side + 1] - x[2 * side];
    const Real turn = std::fabs(std::atan2(dot(u, s.axes[2 * side + 1]), dot(u, s.axes[2 * side])));
    most = turn > most ? turn : most;
  }
  return most;
}

/// Turns of a gear count from these positions; `tips`: z of both sides. c is continuous.
SS_HD inline void start_gear(ConstraintStencil& s, const Vec3* x, const Vec3* tips, bool is_first) {
  s.turned = is_first ? Real(0) : constraint_state(s, x, Real(0)).c;
  for (int side = 0; side < 2; ++side) {
    const Vec3 y = normalized(x[2 * side + 1] - x[2 * side]), z = tips[side] - x[2 * side];
    s.axes[2 * side] = y;
    s.axes[2 * side + 1] = normalized(z - dot(z, y) * y);
  }
}

/// blocks += stiffness g g'.
SS_HD inline void add_outer(const CornerVectors& g, Real stiffness, CornerBlocks& blocks) {
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b <= a; ++b) blocks(a, b) += stiffness * outer(g[a], g[b]);
}

/// blocks += the positive semidefinite part of `force` times the second derivative of c; none of an angle or
/// a gear.
SS_HD inline void add_curvature(const ConstraintStencil& s, const Vec3* x, Real force, CornerBlocks& blocks) {
  if (s.kind == NodeConstraint::Kind::distance && force > Real(0)) {
    const Vec3 d = x[0] - x[1];
    const Real length = norm(d);
    if (!(length > Real(0))) return;
    const Vec3 n = d / length;
    const Mat3 across = (force / length) * (Mat3::identity() - outer(n, n));
    blocks(0, 0) += across;
    blocks(1, 0) -= across;
    blocks(1, 1) += across;
  }
  if (s.kind != NodeConstraint::Kind::product) return;
  // (a b' + b a') I with a = first, b = second has the eigenvectors a/|a| +- b/|b|, and the eigenvalues
  // a . b +- |a| |b|.
  const Real na = norm(s.first), nb = norm(s.second), sign = force < Real(0) ? Real(-1) : Real(1);
  const Vec<Real, 4> v = s.first / na + (sign / nb) * s.second;
  const Real value = force / s.arm * (dot(s.first, s.second) + sign * na * nb), v2 = norm2(v);
  if (!(v2 > Real(1e-12))) return;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b <= a; ++b) blocks(a, b) += (value / v2 * v[a] * v[b]) * Mat3::identity();
}

}  // namespace stickslip
