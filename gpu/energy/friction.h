// Smoothed Coulomb friction of one stencil [Li20 §5.4; Guo24 §3]: D = mu lambda f(|u|) [J], with u the
// tangential sliding over the step at a frozen normal, weights and normal force, and f(y) = y^2/eps - y^3/(3
// eps^2) below eps = eps_v dt, y - eps/3 above. Its slope rises from 0 (stick) to 1 (slip) with a continuous
// derivative.
#pragma once

#include "gpu/energy/contact_stencil.h"

namespace stickslip {

/// A contact frozen for friction.
struct FrictionStencil {
  Vec<Real, 4> weights;  // as in ClosestPoints
  Vec3 normal;           // unit
  Real mu_lambda;        // friction limit [N]
};

/// From a stencil in contact, with lambda = minus the potential's slope times the mollifier [N].
SS_HD inline FrictionStencil make_friction_stencil(const ContactStencil& s, const ContactPotential& potential,
                                                   Real mu) {
  const ClosestPoints closest = closest_points(s);
  const Real lambda = -potential.jet(closest.gap).first * stencil_mollifier(s);
  return {closest.weights, closest.normal, mu * lambda};
}

/// f(y) [m], f'(y)/y [1/m] and f''(y) [1/m] at a sliding distance y >= 0 [m].
struct Sliding {
  Real value, slope_over_y, curvature;
};
SS_HD inline Sliding sliding(Real y, Real eps) {
  if (y >= eps) return {y - eps / Real(3), Real(1) / y, Real(0)};
  const Real ratio = y / eps;
  return {y * ratio * (Real(1) - ratio / Real(3)), (Real(2) - ratio) / eps,
          Real(2) * (Real(1) - ratio) / eps};
}

/// u [m]: the tangential part of sum_i w_i dx_i, with dx = x - x_t the displacement of the corners over the
/// step.
SS_HD inline Vec3 sliding_displacement(const FrictionStencil& f, const CornerVectors& dx) {
  Vec3 u = Vec3::zero();
  for (int i = 0; i < 4; ++i) u += f.weights[i] * dx[i];
  return u - dot(f.normal, u) * f.normal;
}

/// D [J]; `eps` = eps_v dt > 0 [m].
SS_HD inline Real friction_value(const FrictionStencil& f, const CornerVectors& dx, Real eps) {
  return f.mu_lambda * sliding(norm(sliding_displacement(f, dx)), eps).value;
}

/// dD/dx at the corners [N].
SS_HD inline CornerVectors friction_gradient(const FrictionStencil& f, const CornerVectors& dx, Real eps) {
  const Vec3 u = sliding_displacement(f, dx);
  const Vec3 force = f.mu_lambda * sliding(norm(u), eps).slope_over_y * u;
  CornerVectors gradient{};
  for (int i = 0; i < 4; ++i) gradient[i] = f.weights[i] * force;
  return gradient;
}

/// The change of `friction_gradient` [N] along displacements p of the corners [m] that comes from lambda
/// alone, which changes by -b''(d) n . sum_i w_i p_i. `f` is that of the contact `s`; the mollifier counts as
/// constant.
SS_HD inline CornerVectors friction_gradient_change(const FrictionStencil& f, const ContactStencil& s,
                                                    const ContactPotential& potential,
                                                    const CornerVectors& dx, const CornerVectors& p,
                                                    Real eps) {
  const Jet2<Real> b = potential.jet(closest_points(s).gap);
  if (!(b.first < Real(0))) return CornerVectors{};
  Real approach = 0;
  for (int i = 0; i < 4; ++i) approach += f.weights[i] * dot(f.normal, p[i]);
  const Real relative = b.second / b.first * approach;
  CornerVectors change = friction_gradient(f, dx, eps);
  for (int i = 0; i < 4; ++i) change[i] = relative * change[i];
  return change;
}

/// Corner blocks of the Hessian [N/m]: with t = u/|u|, P = I - nn',
///   mu lambda w_i w_j [ f'/y (P - tt') + f'' tt' ],  positive semidefinite as it stands.
/// `secant`, in [0, 1], is the smallest allowed ratio of the curvature f'' to the secant f'/y. With 1 the
/// quadratic model of D majorises D, since f is a concave function of y^2.
SS_HD inline CornerBlocks friction_hessian(const FrictionStencil& f, const CornerVectors& dx, Real eps,
                                           Real secant = Real(0)) {
  const Vec3 u = sliding_displacement(f, dx);
  const Sliding s = sliding(norm(u), eps);
  const Vec3 t = normalized(u);
  const Real least = secant * s.slope_over_y, curvature = s.curvature < least ? least : s.curvature;
  const Mat3 inner = f.mu_lambda * (s.slope_over_y * (Mat3::identity() - outer(f.normal, f.normal)) +
                                    (curvature - s.slope_over_y) * outer(t, t));
  CornerBlocks blocks{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j <= i; ++j) blocks(i, j) = f.weights[i] * f.weights[j] * inner;
  return blocks;
}

}  // namespace stickslip
