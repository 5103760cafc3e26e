// Eight boxes side by side, in the lanes of processors of the CPU backend.
#pragma once

#include <cstdint>
#include <limits>

#include "gpu/broadphase/float_box.h"

#if !STICKSLIP_ON_CUDA

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace stickslip {

/// Lanes that were not set overlap nothing.
class BoxPack {
 public:
  static constexpr int size = 8;

  void set(int lane, const FloatBox& box) {
    for (int k = 0; k < 3; ++k) {
      lo_[k][lane] = box.lo[k];
      hi_[k][lane] = box.hi[k];
    }
  }
  FloatBox box(int lane) const {
    return {{lo_[0][lane], lo_[1][lane], lo_[2][lane]}, {hi_[0][lane], hi_[1][lane], hi_[2][lane]}};
  }
  /// Around the boxes of all lanes.
  FloatBox merged() const {
    FloatBox all = FloatBox::empty();
    for (int lane = 0; lane < size; ++lane) all = merge(all, box(lane));
    return all;
  }

  /// The lanes whose boxes overlap `other`, as bits. NaN overlaps nothing.
  unsigned overlaps(const FloatBox& other) const {
    const Mask mask = (lo_[0] <= other.hi[0]) & (hi_[0] >= other.lo[0]) & (lo_[1] <= other.hi[1]) &
                      (hi_[1] >= other.lo[1]) & (lo_[2] <= other.hi[2]) & (hi_[2] >= other.lo[2]);
#if defined(__AVX__)
    return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#else
    unsigned bits = 0;
    for (int lane = 0; lane < size; ++lane) bits |= (static_cast<unsigned>(mask[lane]) & 1u) << lane;
    return bits;
#endif
  }

 private:
  using Floats = float __attribute__((vector_size(4 * size)));
  using Mask = std::int32_t __attribute__((vector_size(4 * size)));

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Floats lo_[3] = {Floats{} + kInfinity, Floats{} + kInfinity, Floats{} + kInfinity};
  Floats hi_[3] = {Floats{} - kInfinity, Floats{} - kInfinity, Floats{} - kInfinity};
};

}  // namespace stickslip

#endif
