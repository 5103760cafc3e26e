// Friction tensors [Course §6.2]: a sliding contact has the friction r_T = -r_N L d, with the direction d of
// its slip velocity and a 2 x 2 matrix L.
#pragma once

#include <cmath>

#include "gpu/law/contact_law.h"
#include "gpu/math/mat.h"

namespace stickslip {

using Mat2d = Mat<double, 2>;

/// Q of one surface [Course Eq.320] in the tangents of a contact: `along` its grain, `across` it, and a part
/// `skew` that turns friction by +90 degrees about the normal. `cosine`, `sine`: of the angle from the first
/// tangent to the grain, positive about the normal.
SS_HD inline Mat2d surface_tensor(double along, double across, double skew, double cosine, double sine) {
  const double mixed = (along - across) * cosine * sine;
  Mat2d q;
  q(0, 0) = along * cosine * cosine + across * sine * sine;
  q(1, 1) = along * sine * sine + across * cosine * cosine;
  q(0, 1) = mixed - skew;
  q(1, 0) = mixed + skew;
  return q;
}

SS_HD inline double tensor_determinant(const Mat2d& l) { return l(0, 0) * l(1, 1) - l(0, 1) * l(1, 0); }

/// sqrt(det L): mu of the isotropic law if L = mu I. At 0 there is no friction.
SS_HD inline double mean_friction(const Mat2d& l) {
  const double det = tensor_determinant(l);
  return det > 0 ? std::sqrt(det) : 0.0;
}

/// sqrt(det L) L^-1 r_T. With p = (r_N, this), the law of the tensor is Coulomb's law of p and u with mu =
/// sqrt(det L): a contact that slides has r_T = -r_N L d, so this is -mu r_N d; one that sticks has
/// |L^-1 r_T| <= r_N, the ellipse of [Course Eq.323]. det L > 0.
SS_HD inline Vec<double, 2> coulomb_image(const Mat2d& l, const Vec<double, 2>& r) {
  const double mu = mean_friction(l);
  return {(l(1, 1) * r[0] - l(0, 1) * r[1]) / mu, (l(0, 0) * r[1] - l(1, 0) * r[0]) / mu};
}

/// An elliptic law: `cosine` and `sine` of the angle from the contact's first tangent to its first axis, and
/// the coefficients along both axes.
struct FrictionEllipse {
  double cosine, sine, mu1, mu2;
};

/// The ellipse r' C r <= r_N^2 with the given symmetric positive definite C.
SS_HD inline FrictionEllipse ellipse_of(const Mat2d& c) {
  const double mean = 0.5 * (c(0, 0) + c(1, 1)), half = 0.5 * (c(0, 0) - c(1, 1)), mixed = c(0, 1),
               radius = std::sqrt(half * half + mixed * mixed), angle = 0.5 * std::atan2(mixed, half);
  const double larger = mean + radius, smaller = (c(0, 0) * c(1, 1) - mixed * mixed) / larger;
  return {std::cos(angle), std::sin(angle), 1 / std::sqrt(larger), 1 / std::sqrt(smaller)};
}

/// C_P = L^-T L^-1 of a contact that sticks [Course Eq.324]. det L > 0.
SS_HD inline Mat2d sticking_ellipse(const Mat2d& l) {
  const double det2 = tensor_determinant(l) * tensor_determinant(l);
  Mat2d c;
  c(0, 0) = (l(1, 0) * l(1, 0) + l(1, 1) * l(1, 1)) / det2;
  c(1, 1) = (l(0, 0) * l(0, 0) + l(0, 1) * l(0, 1)) / det2;
  c(0, 1) = c(1, 0) = -(l(0, 0) * l(1, 0) + l(0, 1) * l(1, 1)) / det2;
  return c;
}

/// The matrix of an ellipse whose associated law agrees with the tensor for slip along d, |d| = 1. That law
/// has a force -y on the ellipse, and slip along C y: so C y = s with y = L d and s = d / (d . y). Of the
/// symmetric matrices with this property this is the one next to C_P in the norm of Davidon, Fletcher and
/// Powell: C = (I - s y') C_P (I - y s') + s s'. It is positive definite, as d . L d > 0. Where d is an
/// eigenvector of L^-T it is C_P, whose law dissipates most [Course Eq.332].
SS_HD inline Mat2d sliding_ellipse(const Mat2d& l, const Vec<double, 2>& d) {
  const Mat2d c0 = sticking_ellipse(l);
  const Vec<double, 2> y = l * d, s = d / dot(d, y), cy = c0 * y;
  const double ycy = dot(y, cy);
  Mat2d c;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) c(i, j) = c0(i, j) - s[i] * cy[j] - cy[i] * s[j] + (ycy + 1) * s[i] * s[j];
  return c;
}

}  // namespace stickslip
