// The surface for drawing: a node becomes several vertices at a crease of the rest shape. So sharp edges are
// shaded sharp and round shapes smooth. Along a seam of cloth it becomes two, which share their normal: odd
// panels have another shade, and each panel its own threads.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/model/model.h"
#include "shaders/shared/frame_data.h"

namespace stickslip {

struct MeshTopology {
  std::vector<shared::MeshVertex> vertices;
  std::vector<std::uint32_t> fans;     // triangle numbers, in the ranges of the vertices
  std::vector<std::uint32_t> indices;  // three vertices per triangle, in the order of Model::triangles
};

/// Two triangles that share an edge get one normal there unless their normals differ by more than
/// `crease_degrees`.
MeshTopology build_topology(const Model& model, double crease_degrees = 50);

}  // namespace stickslip
