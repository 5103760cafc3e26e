// The contact barrier [Guo24 §3] on the unsquared distance, b = -(d - d_hat)^2 ln(d / d_hat) for d < d_hat,
// else 0. It reaches zero at d_hat with two continuous derivatives.
#pragma once

#include <cmath>
#include <limits>

#include "gpu/core/backend.h"

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

}  // namespace stickslip
