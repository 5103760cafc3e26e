// Wind: the velocity of the air around cloth and rods, as a function of place and time.
#pragma once

#include <cmath>

#include "gpu/math/vec.h"
#include "gpu/params/params.h"

namespace stickslip {

/// At one time. Gusts are sums of three waves that the mean wind carries along (Taylor's hypothesis of frozen
/// turbulence): they change the wind along its mean, and across it horizontally.
struct Wind {
  double density = 0;                // [kg/m^3] of the air; 0: none
  Vec<double, 3> mean{0, 0, 0};      // [m/s]
  Vec<double, 3> across{0, 0, 0};    // [m/s] the horizontal normal of `mean`, as long
  Vec<double, 3> slowness{0, 0, 0};  // [s/m] of gusts: mean / |mean|^2
  double gust = 0, frequency = 0 /* [rad/s] */, time = 0 /* [s] */;

  SS_HD bool blows() const { return density > 0; }
  /// [m/s] at the point x [m].
  SS_HD Vec<double, 3> operator()(const Vec<double, 3>& x) const {
    if (!(gust > 0)) return mean;
    const double phase = frequency * (time - dot(slowness, x));
    return (1 + gust * wave(phase, 0.0)) * mean + (gust * wave(phase, 2.1)) * across;
  }

 private:
  /// Within [-1, 1]; the ratios of the frequencies are irrational, so that gusts do not repeat.
  SS_HD static double wave(double phase, double shift) {
    return 0.5 * std::sin(phase + shift) + 0.3 * std::sin(2.236 * phase + 1.3 + 2 * shift) +
           0.2 * std::sin(5.099 * phase + 4.1 + 3 * shift);
  }
};

inline Wind wind_at(const Params& params, double time) {
  Wind wind;
  wind.density = params.air_density;
  const double speed = params.wind_speed, pi = std::acos(-1.0);
  const double heading = pi / 180 * params.wind_heading, rise = pi / 180 * params.wind_rise;
  wind.mean = speed * Vec<double, 3>{std::cos(rise) * std::cos(heading), std::sin(rise),
                                     -std::cos(rise) * std::sin(heading)};
  wind.across = speed * Vec<double, 3>{std::sin(heading), 0, std::cos(heading)};
  if (!(speed > 0)) return wind;
  wind.slowness = (1 / (speed * speed)) * wind.mean;
  wind.gust = params.gust;
  wind.frequency = 2 * pi / params.gust_period;
  wind.time = time;
  return wind;
}

}  // namespace stickslip
