#pragma once

#include <cmath>

#include "gpu/math/vec.h"

namespace stickslip {

inline bool is_finite(const Vec<double, 3>& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

}  // namespace stickslip
