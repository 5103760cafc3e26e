// Plain views: the input and output of the broad phase. Pointers are backend memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/math/vec.h"

namespace stickslip {

/// A surface inside a larger set of nodes; all indices are node indices.
struct SurfaceView {
  const Vec3i* triangles;  // {a, b, b}: a segment
  std::size_t triangle_count;
  const Vec2i* edges;  // of the triangles, and of segments, each once
  std::size_t edge_count;
  const std::int32_t* nodes;  // of these, and points by themselves, each once
  std::size_t node_count;     // of `nodes`
  /// [m] per node of the larger set, the same for all nodes of a primitive: half its thickness. Null: all 0.
  const Real* radius = nullptr;

  /// As CandidateView lists pairs; of two edges the smaller comes first.
  SS_HD Vec4i point_triangle(std::int32_t node, std::int32_t triangle) const {
    const Vec3i& t = triangles[triangle];
    return {node, t[0], t[1], t[2]};
  }
  SS_HD Vec4i edge_edge(std::int32_t one, std::int32_t other) const {
    const Vec2i &a = edges[one < other ? one : other], &b = edges[one < other ? other : one];
    return {a[0], a[1], b[0], b[1]};
  }
};

/// Pairs that may touch, as node quadruples: {p, t0, t1, t2} and {a0, a1, b0, b1}.
struct CandidateView {
  const Vec4i* point_triangle;
  std::size_t point_triangle_count;
  const Vec4i* edge_edge;
  std::size_t edge_edge_count;
};

}  // namespace stickslip
