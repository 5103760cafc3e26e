// Pure functions of surface primitives: boxes of moving ones, and which pairs the broad phase drops.
#pragma once

#include "gpu/broadphase/float_box.h"

namespace stickslip {

/// The box of nodes on their straight ways from x to x + p (p: null for no motion), grown by `reach` [m] and
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

/// `fixed`: one flag per node, null when none is fixed.
template <int N>
SS_HD inline bool all_fixed(const Vec<std::int32_t, N>& nodes, const std::uint8_t* fixed) {
  bool all = fixed != nullptr;
  for (int i = 0; all && i < N; ++i) all = fixed[nodes[i]] != 0;
  return all;
}

/// Pairs that can never come into contact: joined by a node, or without a node that may move.
template <int A, int B>
SS_HD inline bool never_touch(const Vec<std::int32_t, A>& a, const Vec<std::int32_t, B>& b,
                              const std::uint8_t* fixed) {
  return share_node(a, b) || (all_fixed(a, fixed) && all_fixed(b, fixed));
}

}  // namespace stickslip
