// Curvature correction of joint rows that are built half a step ahead.
//
// Moreau's midpoint step builds its rows J at q + dt v / 2 and ends at the velocity v+. With J v+ = 0, v+
// would be tangent at the midpoint and not at the end of the step, where it is used: at a spin w a joint
// dissipates (w dt)^2 of the energy of its bodies' centres in each step, an error of first order. Instead the
// rows prescribe the rate of the constraint phi at the end of the step, to second order:
//   J v+ + (dt / 2) phi'' = 0,   phi'' the second derivative of phi along free motion at v.
// Then the impulse J' r acts on (v + v+) / 2, for which J is zero to second order, and does no work. The
// straight path to the midpoint also changes phi itself, by (dt^2 / 8) phi''. Rows subtract this offset,
// since it is no error.
#pragma once

#include <cmath>

#include "gpu/math/quat.h"

namespace stickslip::rigid_detail {

/// The correction terms of a row.
struct Bend {
  double speed = 0;   // [m/s] (dt / 2) phi''
  double offset = 0;  // [m] (dt^2 / 8) phi''
};

/// The share of the correction that a row contains, 1 / (1 + (theta / 0.1)^4) if half a step turns the bodies
/// by theta [rad]. In steps too long for the rotation the full correction would add energy, as in belts of
/// small links under tension; with this share such steps dissipate energy.
SS_HD inline double bend_share(double theta) {
  constexpr double kResolved = 0.1;
  const double x = theta / kResolved;
  return 1 / (1 + x * x * x * x);
}

/// `ahead` is dt / 2 [s], `rate` phi'' [m/s^2], `spin` the largest angular velocity [rad/s].
SS_HD inline Bend bend_of_rate(double ahead, double rate, double spin) {
  if (!(ahead > 0)) return {};
  const double speed = bend_share(ahead * spin) * ahead * rate;
  return {speed, 0.5 * ahead * speed};
}

}  // namespace stickslip::rigid_detail
