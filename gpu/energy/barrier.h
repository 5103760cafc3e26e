// The contact barrier [Guo24 §3] on the unsquared distance, b = -(d - d_hat)^2 ln(d / d_hat) for d < d_hat,
// else 0. It reaches zero at d_hat with two continuous derivatives. The cubic one with a stiffness of each
// contact. And what a contact with a multiplier adds to the augmented Lagrangian.
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

/// What a contact resists with by itself: the stiffness of its cubic barrier at distance d is
/// kappa(d) = inertia / d^2 + stiffness.
struct ContactResistance {
  Real inertia = 0;    // [N m] reduced mass / (beta dt^2) times d_hat^2
  Real stiffness = 0;  // [N/m] of the elastic bodies

  SS_HD bool is_set() const { return inertia > 0 || stiffness > 0; }
  SS_HD Real at(Real d) const { return inertia / (d * d) + stiffness; }
};

/// The cubic barrier [Ando24], with the force 2 kappa(d) (d_hat - d)^2 / d_hat. There kappa is constant
/// within a Newton iteration and taken from the gap before it; then forces alternate between iterations where
/// gaps are below d_hat / 2. This is the potential of the same force with kappa at d itself: [J], infinite
/// for d <= 0 if there is inertia.
SS_HD inline Real cubic_barrier(Real d, Real d_hat, const ContactResistance& own) {
  if (d >= d_hat) return Real(0);
  if (d <= Real(0)) return std::numeric_limits<Real>::infinity();
  const Real u = d / d_hat, left = d_hat - d;
  return Real(2) * own.inertia * (Real(1) / u - u + Real(2) * std::log(u)) +
         Real(2) / Real(3) * own.stiffness / d_hat * left * left * left;
}

/// With its first two derivatives at a distance d > 0: first <= 0 <= second.
SS_HD inline Jet2<Real> cubic_barrier_jet(Real d, Real d_hat, const ContactResistance& own) {
  if (d >= d_hat) return {0, 0, 0};
  const Real left = d_hat - d, kappa = own.at(d);
  return {cubic_barrier(d, d_hat, own), -Real(2) * kappa * left * left / d_hat,
          Real(4) * left / d_hat * (kappa + own.inertia * left / (d * d * d))};
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
/// With a resistance of its own, the cubic barrier takes the place of sigma b, and kappa(d_hat) that of sigma
/// in t.
struct ContactPotential {
  Real d_hat;           // [m]
  Real sigma = 1;       // [N/m]
  Real multiplier = 0;  // [N]
  bool is_barrier = true;
  ContactResistance own = {};  // of a cubic barrier

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
    const Real least = own.is_set() ? own.at(d_hat) : sigma;
    return multiplier > least * d_hat ? multiplier / d_hat : least;
  }
  /// Distance from which on it has no force [m].
  SS_HD Real reach() const { return d_hat + multiplier / tail(); }

  /// Infinite for d <= 0 with a barrier.
  SS_HD Real value(Real d) const {
    if (!is_barrier || d >= d_hat) {
      const Real left = reach() - d;
      return left > 0 ? tail() / 2 * left * left : Real(0);
    }
    const Real pure = own.is_set() ? cubic_barrier(d, d_hat, own) : sigma * barrier(d, d_hat);
    return pure + multiplier * (d_hat - d + multiplier / (2 * tail()));
  }
  /// With its first two derivatives, for d > 0: first <= 0 <= second.
  SS_HD Jet2<Real> jet(Real d) const {
    if (is_barrier && d < d_hat) {
      if (own.is_set()) {
        const Jet2<Real> b = cubic_barrier_jet(d, d_hat, own);
        return {value(d), b.first - multiplier, b.second};
      }
      const Jet2<Real> b = barrier_jet(d, d_hat);
      return {value(d), sigma * b.first - multiplier, sigma * b.second};
    }
    const Real left = reach() - d;
    if (left <= 0) return {0, 0, 0};
    return {value(d), -tail() * left, tail()};
  }
};

}  // namespace stickslip
