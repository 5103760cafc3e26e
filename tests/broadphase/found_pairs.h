// The candidate pairs that a search found, in host memory.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/broadphase/broadphase.cuh"
#include "gpu/core/buffer.h"

namespace stickslip::STICKSLIP_BACKEND {

using Quads = std::vector<std::array<int, 4>>;

struct FoundPairs {
  Quads point_triangle, edge_edge;
  std::size_t size() const { return point_triangle.size() + edge_edge.size(); }
};

inline Quads download(Context& ctx, const Vec4i* quads, std::size_t n) {
  std::vector<Vec4i> host(n);
  copy_to_host(ctx, host.data(), quads, n);
  Quads out;
  for (const Vec4i& q : host) out.push_back({q[0], q[1], q[2], q[3]});
  return out;
}

inline FoundPairs download(Context& ctx, const CandidateView& view) {
  return {download(ctx, view.point_triangle, view.point_triangle_count),
          download(ctx, view.edge_edge, view.edge_edge_count)};
}

inline Quads sorted(Quads quads) {
  std::sort(quads.begin(), quads.end());
  return quads;
}
inline FoundPairs sorted(const FoundPairs& found) {
  return {sorted(found.point_triangle), sorted(found.edge_edge)};
}

/// Whether `large` has all of `small`; both in ascending order.
inline bool contains(const Quads& large, const Quads& small) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

}  // namespace stickslip::STICKSLIP_BACKEND
