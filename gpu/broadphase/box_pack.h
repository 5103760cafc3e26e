// Eight boxes side by side, in the lanes of processors of the CPU backend.
#pragma once

#include <cstdint>
#include <limits>

#include "gpu/broadphase/float_box.h"
#include "gpu/math/vec.h"

#if !STICKSLIP_ON_CUDA

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace stickslip {

namespace pack_detail {

constexpr int kLanes = 8;
using Floats = float __attribute__((vector_size(4 * kLanes)));
using Integers = std::int32_t __attribute__((vector_size(4 * kLanes)));

/// A bit for each lane that is not 0 but -1.
inline unsigned bits(Integers mask) {
#if defined(__AVX__)
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#else
  unsigned found = 0;
  for (int lane = 0; lane < kLanes; ++lane) found |= (static_cast<unsigned>(mask[lane]) & 1u) << lane;
  return found;
#endif
}

}  // namespace pack_detail

/// Lanes that were not set overlap nothing.
class BoxPack {
 public:
  static constexpr int size = pack_detail::kLanes;

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
    return pack_detail::bits((lo_[0] <= other.hi[0]) & (hi_[0] >= other.lo[0]) & (lo_[1] <= other.hi[1]) &
                             (hi_[1] >= other.lo[1]) & (lo_[2] <= other.hi[2]) & (hi_[2] >= other.lo[2]));
  }

 private:
  using Floats = pack_detail::Floats;

  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Floats lo_[3] = {Floats{} + kInfinity, Floats{} + kInfinity, Floats{} + kInfinity};
  Floats hi_[3] = {Floats{} - kInfinity, Floats{} - kInfinity, Floats{} - kInfinity};
};

/// The N nodes of eight primitives.
template <int N>
class NodePack {
 public:
  void set(int lane, const Vec<std::int32_t, N>& nodes) {
    for (int k = 0; k < N; ++k) node_[k][lane] = nodes[k];
  }
  /// The lanes that have one of the nodes, as bits.
  template <int M>
  unsigned share(const Vec<std::int32_t, M>& nodes) const {
    pack_detail::Integers same{};
    for (int k = 0; k < N; ++k)
      for (int m = 0; m < M; ++m) same |= node_[k] == nodes[m];
    return pack_detail::bits(same);
  }

 private:
  pack_detail::Integers node_[N]{};
};

}  // namespace stickslip

#endif
