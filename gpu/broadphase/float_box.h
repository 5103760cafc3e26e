// FloatBox: the boxes that the trees store and compare. Half the memory traffic of double boxes, and never
// smaller than they are.
#pragma once

#include <cfloat>

#include "gpu/geometry/aabb.h"

namespace stickslip {

using FloatBox = AabbT<float>;

/// The bits of the Morton code of a point, ten per axis, interleaved; and of a box, with one for its size.
inline constexpr int kMortonBits = 30, kCodeBits = kMortonBits + 1;

/// A float box that contains `box` with at least one float ulp to spare on every side, so that the rounding
/// of the few operations that made `box` cannot lose a touching pair. Relative slack 2^-22.
SS_HD inline FloatBox round_outward(const Aabb& box) {
  constexpr float kSlack = 2 * FLT_EPSILON;
  FloatBox r{};
  for (int k = 0; k < 3; ++k) {
    const float lo = static_cast<float>(box.lo[k]), hi = static_cast<float>(box.hi[k]);
    r.lo[k] = lo - (kSlack * std::abs(lo) + FLT_MIN);
    r.hi[k] = hi + (kSlack * std::abs(hi) + FLT_MIN);
  }
  return r;
}

}  // namespace stickslip
