// Quality measures of generated meshes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "app/io/mesh/mesh.h"

namespace stickslip::test {

using std::numbers::pi;
using Vec3d = Vec<double, 3>;

/// Sum of the tets' volumes [m^3]; each must be positive.
inline double volume_of(const TetMesh& mesh) {
  double volume = 0;
  for (const Vec4i& t : mesh.tets) {
    const auto& x = mesh.nodes;
    const double v = dot(x[t[1]] - x[t[0]], cross(x[t[2]] - x[t[0]], x[t[3]] - x[t[0]])) / 6;
    EXPECT_GT(v, 0);
    volume += v;
  }
  return volume;
}

inline double volume_of(const SurfaceMesh& mesh) {
  double volume = 0;
  for (const Vec3i& t : mesh.triangles)
    volume += dot(mesh.nodes[t[0]], cross(mesh.nodes[t[1]], mesh.nodes[t[2]])) / 6;
  return volume;
}

/// Smallest and largest dihedral angle over all tets [degrees].
inline std::pair<double, double> dihedral_range(const TetMesh& mesh) {
  double low = 180, high = 0;
  for (const Vec4i& t : mesh.tets)
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) {
        int rest[2], n = 0;
        for (int k = 0; k < 4; ++k)
          if (k != i && k != j) rest[n++] = k;
        const Vec3d axis = normalized(mesh.nodes[t[j]] - mesh.nodes[t[i]]);
        Vec3d a = mesh.nodes[t[rest[0]]] - mesh.nodes[t[i]], b = mesh.nodes[t[rest[1]]] - mesh.nodes[t[i]];
        a = normalized(a - dot(a, axis) * axis);
        b = normalized(b - dot(b, axis) * axis);
        const double angle = std::acos(std::clamp(dot(a, b), -1.0, 1.0)) * 180 / pi;
        low = std::min(low, angle);
        high = std::max(high, angle);
      }
  return {low, high};
}

inline void expect_closed(const SurfaceMesh& mesh) {
  std::map<std::pair<int, int>, int> half_edges;
  for (const Vec3i& t : mesh.triangles)
    for (int e = 0; e < 3; ++e) ++half_edges[{t[e], t[(e + 1) % 3]}];
  for (const auto& [edge, count] : half_edges) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ(half_edges.count({edge.second, edge.first}), 1u);
  }
}

}  // namespace stickslip::test
