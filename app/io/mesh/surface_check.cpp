#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "app/io/file/number_text.h"
#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/solidify.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

std::string text_of(const Vec3d& p) {
  return "(" + number_text(p[0]) + ", " + number_text(p[1]) + ", " + number_text(p[2]) + ")";
}

std::string edge_text(const SurfaceMesh& mesh, const std::array<std::int32_t, 2>& nodes) {
  return "the edge from " + text_of(mesh.nodes[nodes[0]]) + " to " + text_of(mesh.nodes[nodes[1]]);
}

/// Each edge must occur once in each direction.
void check_edges(const SurfaceMesh& mesh, const std::string& name) {
  struct HalfEdge {
    std::array<std::int32_t, 2> nodes;  // ascending
    bool forward;
  };
  std::vector<HalfEdge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = t[c], b = t[(c + 1) % 3];
      edges.push_back({{std::min(a, b), std::max(a, b)}, a < b});
    }
  std::sort(edges.begin(), edges.end(),
            [](const HalfEdge& a, const HalfEdge& b) { return a.nodes < b.nodes; });
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i;
    int sum = 0;
    for (; end < edges.size() && edges[end].nodes == edges[i].nodes; ++end)
      sum += edges[end].forward ? 1 : -1;
    if (end - i != 2) {
      const char* triangles = end - i == 1 ? " triangle" : " triangles";
      throw InputError(name + ": " + edge_text(mesh, edges[i].nodes) + " belongs to " +
                       std::to_string(end - i) + triangles +
                       ": a surface that can be filled is closed, with two at each edge");
    }
    if (sum != 0)
      throw InputError(name + ": two triangles run along " + edge_text(mesh, edges[i].nodes) +
                       " in the same direction: turn one of them");
    i = end;
  }
}

}  // namespace

SurfaceMesh weld(const SurfaceMesh& mesh) {
  const std::vector<Vec3d>& x = mesh.nodes;
  std::vector<std::int32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t i) { return std::tie(x[i][0], x[i][1], x[i][2]); };
  std::sort(order.begin(), order.end(),
            [&](std::int32_t a, std::int32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  // The first of equal nodes represents them all, so the others keep their order.
  std::vector<std::int32_t> first(x.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    first[order[i]] = i > 0 && key(order[i]) == key(order[i - 1]) ? first[order[i - 1]] : order[i];
  SurfaceMesh welded{x, {}};
  for (const Vec3i& t : mesh.triangles) {
    const Vec3i triangle{first[t[0]], first[t[1]], first[t[2]]};
    if (triangle[0] != triangle[1] && triangle[1] != triangle[2] && triangle[2] != triangle[0])
      welded.triangles.push_back(triangle);
  }
  drop_unused(welded);
  return welded;
}

SurfaceMesh checked_closed(SurfaceMesh surface, const std::string& name) {
  SurfaceMesh mesh = weld(surface);
  if (mesh.triangles.empty()) throw InputError(name + ": has no triangles with three different corners");
  check_edges(mesh, name);
  const double volume = enclosed_volume(mesh);
  if (!(std::abs(volume) > 0)) throw InputError(name + ": the closed surface holds no volume");
  if (volume < 0)
    for (Vec3i& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

double enclosed_volume(const SurfaceMesh& surface) {
  const std::vector<Vec3d>& x = surface.nodes;
  double six_volumes = 0;  // relative to a node, for accuracy far from the origin
  for (const Vec3i& t : surface.triangles)
    six_volumes += dot(x[t[0]] - x[0], cross(x[t[1]] - x[0], x[t[2]] - x[0]));
  return six_volumes / 6;
}

double winding_number(const SurfaceMesh& surface, const Vec3d& p) {
  double half_angles = 0;
  for (const Vec3i& t : surface.triangles) {
    const Vec3d a = surface.nodes[t[0]] - p, b = surface.nodes[t[1]] - p, c = surface.nodes[t[2]] - p;
    const double la = norm(a), lb = norm(b), lc = norm(c);
    half_angles +=
        std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return half_angles / (2 * std::numbers::pi);
}

}  // namespace stickslip
