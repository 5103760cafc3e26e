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

/// [m] from the nodes of a primitive to its surface.
template <int N>
SS_HD inline Real radius_of(const Vec<std::int32_t, N>& nodes, const Real* radius) {
  return radius != nullptr ? radius[nodes[0]] : Real(0);
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

/// Which pairs never come into contact although they share no node. Backend memory; null: no such rule.
struct PairFilter {
  SS_HD PairFilter(const std::uint8_t* apart_bits = nullptr) : apart(apart_bits) {}

  const std::uint8_t* apart;  // bits per node: pairs whose nodes all have a bit in common
  const std::int32_t* body =
      nullptr;  // per node, -1 for none: pairs within one body. A primitive has one body
  const std::int32_t* object = nullptr;  // per node
  const Vec2i* exempt = nullptr;         // ascending pairs of objects, the smaller first: pairs between them
  std::int32_t exempt_count = 0;

  SS_HD bool is_exempt(std::int32_t a, std::int32_t b) const {
    const Vec2i wanted{a < b ? a : b, a < b ? b : a};
    std::int32_t low = 0, high = exempt_count;
    while (low < high) {
      const std::int32_t middle = (low + high) / 2;
      const Vec2i at = exempt[middle];
      if (at[0] < wanted[0] || (at[0] == wanted[0] && at[1] < wanted[1])) low = middle + 1;
      else high = middle;
    }
    return low < exempt_count && exempt[low] == wanted;
  }
  SS_HD bool same_or_exempt(std::int32_t node_a, std::int32_t node_b) const {
    if (body != nullptr && body[node_a] >= 0 && body[node_a] == body[node_b]) return true;
    return exempt_count > 0 && is_exempt(object[node_a], object[node_b]);
  }
};

/// Pairs that never come into contact: they share a node, or the filter drops them.
template <int A, int B>
SS_HD inline bool never_touch(const Vec<std::int32_t, A>& a, const Vec<std::int32_t, B>& b,
                              const PairFilter& filter) {
  return share_node(a, b) || (common_bits(a, filter.apart) & common_bits(b, filter.apart)) != 0 ||
         filter.same_or_exempt(a[0], b[0]);
}

}  // namespace stickslip
