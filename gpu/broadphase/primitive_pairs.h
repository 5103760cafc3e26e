// Pure functions of surface primitives: boxes of moving ones, and which pairs the broad phase drops.
#pragma once

#include "gpu/broadphase/float_box.h"

namespace stickslip {

/// The box of nodes on their straight paths from x to x + p (p: null for no motion), grown by `reach` [m] and
/// rounded outward.
template <int N>
SS_HD inline FloatBox swept_box(const Vec<std::int32_t, N>& nodes, const Vec3* x, const Vec3* p, Real reach) {
  Aabb box = Aabb::empty();
  for (int c = 0; c < N; ++c) {
    const Vec3 from = x[nodes[c]];
    box = merge(box, from);
    if (p != nullptr) box = merge(box, from + p[nodes[c]]);
  }
  return round_outward(inflate(box, reach));
}

template <int A, int B>
SS_HD inline bool share_node(const Vec<std::int32_t, A>& a, const Vec<std::int32_t, B>& b) {
  bool shared = false;
  for (int i = 0; i < A; ++i)
    for (int j = 0; j < B; ++j) shared |= a[i] == b[j];
  return shared;
}

/// The bits that all nodes have; `apart`: bits per node, null when none has any.
template <int N>
SS_HD inline unsigned common_bits(const Vec<std::int32_t, N>& nodes, const std::uint8_t* apart) {
  unsigned common = apart != nullptr ? 0xFFU : 0U;
  for (int i = 0; common != 0 && i < N; ++i) common &= apart[nodes[i]];
  return common;
}

/// Pairs that never come into contact: they share a node, or all their nodes have a bit in common, as all
/// fixed nodes do.
template <int A, int B>
SS_HD inline bool never_touch(const Vec<std::int32_t, A>& a, const Vec<std::int32_t, B>& b,
                              const std::uint8_t* apart) {
  return share_node(a, b) || (common_bits(a, apart) & common_bits(b, apart)) != 0;
}

}  // namespace stickslip
