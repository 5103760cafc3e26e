// Plain views: the input and output of the broad phase. Pointers are backend memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/math/vec.h"

namespace stickslip {

/// A triangle surface inside a larger set of nodes; all indices are node indices.
struct SurfaceView {
  const Vec3i* triangles;
  std::size_t triangle_count;
  const Vec2i* edges;  // of the triangles, each once
  std::size_t edge_count;
  const std::int32_t* nodes;  // of the triangles, each once
  std::size_t node_count;     // of `nodes`
};

/// Pairs that may touch, as node quadruples: {p, t0, t1, t2} and {a0, a1, b0, b1}.
struct CandidateView {
  const Vec4i* point_triangle;
  std::size_t point_triangle_count;
  const Vec4i* edge_edge;
  std::size_t edge_edge_count;
};

}  // namespace stickslip
