#include "gpu/model/distance_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "gpu/model/adaptive_distance.h"
#include "gpu/model/exact_distance.h"
#include "gpu/model/finite.h"
#include "gpu/model/mass_properties.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

void fill(ShapeMesh& mesh) {
  const ExactDistance distance(mesh);
  const Vec<std::int32_t, 3>& n = mesh.grid_nodes;
  mesh.distance.clear();
  mesh.distance.reserve(static_cast<std::size_t>(n[0]) * n[1] * n[2]);
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j) {
      double last = std::numeric_limits<double>::infinity();  // distance at the grid's node before
      for (int i = 0; i < n[0]; ++i) {
        const Vec3d p = mesh.grid_origin + mesh.grid_spacing * Vec3d{double(i), double(j), double(k)};
        // A neighbour's distance bounds this one: the search need not look further.
        const double found = distance.at(p, 1.000001 * (last + mesh.grid_spacing));
        last = std::abs(found);
        mesh.distance.push_back(static_cast<float>(found));
      }
    }
}

}  // namespace

std::string surface_fault(const std::vector<Vec3d>& nodes, const std::vector<Vec3i>& triangles) {
  if (triangles.size() < 4) return "a closed surface needs four triangles at least";
  for (const Vec3d& p : nodes)
    if (!is_finite(p)) return "a node of its surface is not finite";
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Vec3i& v = triangles[t];
    const std::string name = "triangle " + std::to_string(t) + " of its surface ";
    for (int c = 0; c < 3; ++c)
      if (v[c] < 0 || static_cast<std::size_t>(v[c]) >= nodes.size())
        return name + "names a node that is not there";
    const Vec3d e = nodes[v[1]] - nodes[v[0]], f = nodes[v[2]] - nodes[v[0]];
    if (!(norm(cross(e, f)) > 1e-12 * std::max(norm2(e), norm2(f)))) return name + "has no area";
    for (int c = 0; c < 3; ++c)
      if (!sides.emplace(std::pair(v[c], v[(c + 1) % 3]), t).second)
        return name + "shares a side with triangle " + std::to_string(sides[{v[c], v[(c + 1) % 3]}]) +
               " in one sense";
  }
  for (const auto& [side, t] : sides)
    if (!sides.contains({side.second, side.first}))
      return "its surface is not closed: triangle " + std::to_string(t) + " has a free side";
  if (!(mass_of_surface(nodes, triangles).volume > 0)) return "its surface is inside out";
  return "";
}

DistanceGridView field_view(const ShapeMesh& mesh) {
  return {mesh.grid_origin,
          mesh.grid_spacing,
          mesh.grid_nodes,
          mesh.distance.data(),
          mesh.tree.empty() ? nullptr : mesh.tree.data(),
          mesh.levels};
}

std::string field_fault(const ShapeMesh& mesh) {
  const Vec3i& n = mesh.grid_nodes;
  if (!(mesh.grid_spacing > 0) || !is_finite(mesh.grid_origin) || n[0] < 2 || n[1] < 2 || n[2] < 2)
    return "its mesh needs a distance field, two nodes along each axis at least";
  for (const float d : mesh.distance)
    if (!std::isfinite(d)) return "its distance field is not finite";
  if (mesh.tree.empty()) {
    if (mesh.distance.size() != static_cast<std::size_t>(n[0]) * n[1] * n[2])
      return "its mesh needs a distance field with a value at each node";
    return "";
  }
  if (mesh.levels < 0 || mesh.levels > 20) return "the levels of its distance field must be in [0, 20]";
  const std::int32_t root = 1 << mesh.levels;
  std::size_t roots = 1;
  for (int a = 0; a < 3; ++a) {
    if ((n[a] - 1) % root != 0) return "the root cells of its distance field do not fill its box";
    roots *= static_cast<std::size_t>((n[a] - 1) / root);
  }
  std::string broken = "the tree of its distance field does not fit its cells";
  if (mesh.tree.size() < roots) return broken;
  // Children come after their parents, in steps of eight: no walk down is longer than the levels allow.
  std::vector<std::int32_t> depth(mesh.tree.size(), -1);
  std::fill(depth.begin(), depth.begin() + static_cast<std::ptrdiff_t>(roots), 0);
  for (std::size_t c = 0; c < mesh.tree.size(); ++c) {
    const std::int32_t at = mesh.tree[c];
    if (depth[c] < 0) return broken;
    if (at < 0) {
      if (8 * static_cast<std::size_t>(-static_cast<std::int64_t>(at)) > mesh.distance.size()) return broken;
      continue;
    }
    const auto first = static_cast<std::size_t>(at);
    if (first <= c || first < roots || first + 8 > mesh.tree.size() || depth[c] == mesh.levels) return broken;
    std::fill_n(depth.begin() + static_cast<std::ptrdiff_t>(first), 8, depth[c] + 1);
  }
  return "";
}

ShapeMesh mesh_with_distance(std::vector<Vec3d> nodes, std::vector<Vec3i> triangles, int cells,
                             double tolerance) {
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw std::invalid_argument("the tolerance of a distance field must be a finite length, or 0");
  if (cells < 4 || cells > 512)
    throw std::invalid_argument("the cells of a distance field must be in [4, 512]");
  if (const std::string fault = surface_fault(nodes, triangles); !fault.empty())
    throw std::invalid_argument(fault);
  ShapeMesh mesh;
  mesh.vertices = std::move(nodes);
  mesh.triangles = std::move(triangles);
  Vec3d low = mesh.vertices[0], high = low;
  for (const Vec3d& p : mesh.vertices) {
    low = min(low, p);
    high = max(high, p);
  }
  const Vec3d size = high - low;
  mesh.grid_spacing = std::max({size[0], size[1], size[2]}) / cells;
  for (int c = 0; c < 3; ++c) {
    mesh.grid_nodes[c] = static_cast<std::int32_t>(std::ceil(size[c] / mesh.grid_spacing - 1e-9)) + 5;
  }
  if (tolerance > 0) {
    // Root cells as large as the shortest side allows, and as many as cover the box.
    const std::int32_t least = std::min({mesh.grid_nodes[0], mesh.grid_nodes[1], mesh.grid_nodes[2]}) - 1;
    while (mesh.levels < kMostFieldLevels && (2 << mesh.levels) <= least) ++mesh.levels;
    const std::int32_t root = 1 << mesh.levels;
    for (int c = 0; c < 3; ++c) mesh.grid_nodes[c] = (mesh.grid_nodes[c] + root - 2) / root * root + 1;
  }
  for (int c = 0; c < 3; ++c)
    mesh.grid_origin[c] = (low[c] + high[c]) / 2 - mesh.grid_spacing * (mesh.grid_nodes[c] - 1) / 2;
  if (tolerance > 0) fill_adaptive(mesh, tolerance);
  else fill(mesh);
  return mesh;
}

}  // namespace stickslip
