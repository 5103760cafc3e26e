// The contact barrier [Guo24 §3] on the unsquared distance, b = -(d - d_hat)^2 ln(d / d_hat) for d < d_hat,
// else 0. It reaches zero at d_hat with two continuous derivatives. And what a contact with a multiplier adds
// to the augmented Lagrangian.
#pragma once

#include <cmath>
#include <limits>

#include "gpu/core/backend.h"
#include "gpu/core/real.h"

namespace stickslip {

/// A function of one variable with its first two derivatives.
template <class T>
struct Jet2 {
  T value, first, second;
};

/// b [m^2] at distance `d` [m]; infinite for d <= 0.
template <class T>
SS_HD inline T barrier(T d, T d_hat) {
  if (d >= d_hat) return T(0);
  if (d <= T(0)) return std::numeric_limits<T>::infinity();
  return -(d - d_hat) * (d - d_hat) * std::log(d / d_hat);
}

/// b, db/dd and d2b/dd2 at a distance d > 0: first <= 0 <= second.
template <class T>
SS_HD inline Jet2<T> barrier_jet(T d, T d_hat) {
  if (d >= d_hat) return {T(0), T(0), T(0)};
  const T gap = d - d_hat, ratio = gap / d, log = std::log(d / d_hat);
  return {-gap * gap * log, -gap * (T(2) * log + ratio), -T(2) * log + ratio * (ratio - T(4))};
}

/// [N/m] The least stiffness of a barrier [Li20 suppl.]: at a distance of 1e-8 of the scene's diagonal its
/// second derivative is 1e11 times `inertia`, the mass of a node / dt^2 [N/m]. (There with the barrier of
/// squared distances, whose weight has another unit.)
inline double least_stiffness(double inertia, double diagonal, double d_hat) {
  const double near = std::fmin(1e-8 * diagonal, 0.5 * d_hat);
  return 1e11 * inertia / barrier_jet(near, d_hat).second;
}

/// What one contact adds to a step's potential at distance d [Guo24 §3.3]: sigma b(d), and with a multiplier
/// m >= 0 also m (d_hat + s - d), where the slack s = max(d - d_hat - m / sigma, 0) is eliminated. The
/// paper's term drops its force m at once where the slack sets in; here the quadratic penalty that the slack
/// comes from (Eq. 3 to 5) leads it to zero, over a length of d_hat at most:
///   sigma b(d) + m (d_hat - d) + m^2 / (2 t) for d < d_hat,  t/2 (reach - d)^2 up to reach = d_hat + m / t,
///   0 from there,  with t = max(sigma, m / d_hat). It is convex and has a continuous derivative.
struct ContactPotential {
  Real d_hat;           // [m]
  Real sigma = 1;       // [N/m]
  Real multiplier = 0;  // [N]
  bool is_barrier = true;

  // A plain distance stands for the bare barrier of unit stiffness.
  SS_HD ContactPotential(Real d_hat_) : d_hat(d_hat_) {}  // NOLINT(google-explicit-constructor)
  SS_HD ContactPotential(Real d_hat_, Real sigma_, Real multiplier_)
      : d_hat(d_hat_), sigma(sigma_), multiplier(multiplier_) {}

  /// The augmented Lagrangian of the constraint d >= gap, without a barrier:
  /// penalty/2 max(0, gap + multiplier / penalty - d)^2, at any distance. Its force is that of the multiplier
  /// where d = gap.
  SS_HD static ContactPotential constraint(Real gap, Real penalty, Real multiplier) {
    ContactPotential potential(gap, penalty, multiplier);
    potential.is_barrier = false;
    return potential;
  }

  /// Stiffness of the tail beyond d_hat [N/m].
  SS_HD Real tail() const {
    if (!is_barrier) return sigma;
    return multiplier > sigma * d_hat ? multiplier / d_hat : sigma;
  }
  /// Distance from which on it has no force [m].
  SS_HD Real reach() const { return d_hat + multiplier / tail(); }

  /// Infinite for d <= 0 with a barrier.
  SS_HD Real value(Real d) const {
    if (!is_barrier || d >= d_hat) {
      const Real left = reach() - d;
      return left > 0 ? tail() / 2 * left * left : Real(0);
    }
    return sigma * barrier(d, d_hat) + multiplier * (d_hat - d + multiplier / (2 * tail()));
  }
  /// With its first two derivatives, for d > 0: first <= 0 <= second.
  SS_HD Jet2<Real> jet(Real d) const {
    if (is_barrier && d < d_hat) {
      const Jet2<Real> b = barrier_jet(d, d_hat);
      return {value(d), sigma * b.first - multiplier, sigma * b.second};
    }
    const Real left = reach() - d;
    if (left <= 0) return {0, 0, 0};
    return {value(d), -tail() * left, tail()};
  }
};

}  // namespace stickslip
