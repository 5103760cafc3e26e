#include "app/io/mesh/mesh_gen_checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "app/io/file/memory.h"

namespace stickslip {

void check_length(const char* what, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw std::invalid_argument(std::string(what) + " = " + std::to_string(value) + " m: must be positive");
}

void check_count(double elements) {
  if (elements > 1e7)
    throw std::invalid_argument("edge is too short for this size: more than 10 million elements");
  if (const std::string shortage = memory_shortage(kBytesPerTet * elements); !shortage.empty())
    throw std::invalid_argument("edge is too short for this machine: the body " + shortage);
}

double along(double length, double edge) { return std::max(1.0, length / edge); }

int cells(double length, double edge) { return std::max(1, static_cast<int>(std::lround(length / edge))); }

std::vector<Vec4i> cut_prisms(const std::vector<Vec3i>& triangles, int nodes, int layers, bool closed) {
  std::vector<Vec4i> tets;
  for (int layer = 0; layer < layers; ++layer)
    for (const Vec3i& triangle : triangles) {
      std::array<int, 3> t{triangle[0], triangle[1], triangle[2]};
      std::sort(t.begin(), t.end());
      const int low = layer * nodes, high = (closed && layer + 1 == layers ? 0 : layer + 1) * nodes;
      tets.push_back({low + t[0], low + t[1], low + t[2], high + t[2]});
      tets.push_back({low + t[0], low + t[1], high + t[1], high + t[2]});
      tets.push_back({low + t[0], high + t[0], high + t[1], high + t[2]});
    }
  return tets;
}

TetMesh oriented(TetMesh mesh) {
  const auto& x = mesh.nodes;
  for (Vec4i& t : mesh.tets)
    if (dot(x[t[1]] - x[t[0]], cross(x[t[2]] - x[t[0]], x[t[3]] - x[t[0]])) < 0) std::swap(t[2], t[3]);
  return mesh;
}

}  // namespace stickslip
