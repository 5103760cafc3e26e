// HalfSpace in Real, for kernels: the admissible side is dot(normal, x) > offset.
#pragma once

#include "gpu/math/vec.h"

namespace stickslip {

struct Plane {
  Vec3 normal;  // unit
  Real offset;  // [m]
};

}  // namespace stickslip
