#pragma once

#include <cmath>

#include "gpu/params/params.h"

namespace stickslip {

/// [m/s^2]; without gravity that of the earth.
inline double fall_acceleration(const Params& params) {
  return params.gravity != 0 ? std::fabs(params.gravity) : 9.81;
}

}  // namespace stickslip
