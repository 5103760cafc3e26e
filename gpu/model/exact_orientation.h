// On which side of a plane a point lies, without rounding.
#pragma once

#include "gpu/math/vec.h"

namespace stickslip {

/// The sign of dot(cross(b - a, c - a), p - a): 1 where the triangle a, b, c is seen counter-clockwise from
/// p, -1 behind it, 0 exactly in its plane. Exact for finite coordinates whose products neither overflow nor
/// underflow [Shewchuk97: filter and expansions].
int orientation(const Vec<double, 3>& a, const Vec<double, 3>& b, const Vec<double, 3>& c,
                const Vec<double, 3>& p);

}  // namespace stickslip
