// What the rows of joints lack where they are made half a step ahead: the curvature of the constraint.
//
// Moreau's midpoint step makes its rows J at q + dt v / 2 and ends at the velocity v+. Asked for J v+ = 0, v+
// would be tangent there and not where it is used, at the end of the step: with a spin w a joint takes (w
// dt)^2 of the energy of its bodies' centres in each step, an error of first order. The rows ask for the rate
// of the constraint phi at the end of the step instead, to second order,
//   J v+ + (dt / 2) phi'' = 0,   phi'' the second derivative of phi along free motion at v.
// Then the impulse J' r acts on (v + v+) / 2, of which J is zero to second order, and does no work. The way
// along the tangent to the midpoint leaves phi itself by (dt^2 / 8) phi'', which is no error to be taken
// back.
#pragma once

#include <cmath>

#include "gpu/math/quat.h"

namespace stickslip::rigid_detail {

/// What a row lacks.
struct Bend {
  double speed = 0;   // [m/s] (dt / 2) phi''
  double offset = 0;  // [m] (dt^2 / 8) phi''
};

/// How much of it a row takes: all but (theta / 0.1)^4 where half a step turns the bodies by theta [rad].
/// Steps that are too long for what turns would gain energy from it, as belts of small links under tension
/// show; they keep losing some.
SS_HD inline double bend_share(double theta) {
  constexpr double kResolved = 0.1;
  const double x = theta / kResolved;
  return 1 / (1 + x * x * x * x);
}

/// `ahead` is dt / 2 [s], `rate` phi'' [m/s^2], `spin` the fastest turn [rad/s].
SS_HD inline Bend bend_of_rate(double ahead, double rate, double spin) {
  if (!(ahead > 0)) return {};
  const double speed = bend_share(ahead * spin) * ahead * rate;
  return {speed, 0.5 * ahead * speed};
}

}  // namespace stickslip::rigid_detail
