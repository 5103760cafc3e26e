// MeshTopology: which triangles and edges of the surfaces are neighbours. Host memory.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

/// See MeshSurfaceView.
struct MeshTopology {
  std::vector<std::int32_t> triangle_start, triangle_of, edge_start;
  std::vector<Vec2i> opposite;
  std::vector<std::uint8_t> sheet;
  std::vector<Vec2i> wires;
  std::vector<std::int32_t> strand;
  double mean_edge = 0;  // [m] of the surfaces of solids at rest; of all surfaces if there is no solid
};

/// The topology of a finalized model.
MeshTopology mesh_topology(const Model& model);

/// Per triangle of the model a bit for each of its corners c: it is the one that reports contacts on the edge
/// opposite to c. Each edge has one such triangle: the first of those that traverse it from its lower node to
/// its higher one or, at a border where no triangle does, the first of all.
std::vector<std::uint8_t> reported_edges(const Model& model);

}  // namespace stickslip
