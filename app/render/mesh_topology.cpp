#include "app/render/mesh_topology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "app/render/checker.h"
#include "app/render/threads.h"
#include "gpu/model/cloth_pattern.h"

namespace stickslip {
namespace {

struct Corner {
  std::uint32_t triangle;
  int slot;  // 0, 1, 2
};

/// Corners at each node, by counting sort: corners[begin[i], begin[i + 1]).
struct NodeCorners {
  std::vector<std::uint32_t> begin;
  std::vector<Corner> corners;
};

NodeCorners corners_of_nodes(const Model& model) {
  NodeCorners result;
  result.begin.assign(model.node_count() + 1, 0);
  for (const Vec3i& t : model.triangles)
    for (int k = 0; k < 3; ++k) ++result.begin[t[k] + 1];
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  result.corners.resize(3 * model.triangles.size());
  std::vector<std::uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::uint32_t t = 0; t < model.triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) result.corners[next[model.triangles[t][k]]++] = {t, k};
  return result;
}

/// Of the fan only the begin is given while vertices are collected.
bool same_but_fan(const shared::MeshVertex& a, const shared::MeshVertex& b) {
  return a.look == b.look && a.place_x == b.place_x && a.place_y == b.place_y && a.place_z == b.place_z;
}

bool share_edge(const Vec3i& s, const Vec3i& t) {
  int common = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) common += s[i] == t[j];
  return common >= 2;
}

std::size_t root(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

std::vector<std::uint32_t> look_of_triangles(const Model& model) {
  std::vector<std::uint32_t> look(model.triangles.size(), 0);
  for (std::uint32_t o = 0; o < model.objects.size(); ++o) {
    const Object& object = model.objects[o];
    const auto begin = static_cast<std::size_t>(object.triangle_begin);
    const auto end = static_cast<std::size_t>(object.triangle_end);
    for (std::size_t t = begin; t < end; ++t) look[t] = o;
    if (!object.is_sewn()) continue;
    const std::vector<std::int32_t> panels = panels_of(model, object);
    for (std::size_t t = begin; t < end; ++t)
      if (panels[t - begin] % 2 == 1) look[t] += static_cast<std::uint32_t>(model.objects.size());
  }
  return look;
}

/// Places in the pattern of the corners of triangles.
using PatternPlaces = std::array<Vec3f, 3>;

/// Of cloth and solids; zero of other triangles.
std::vector<PatternPlaces> places_of_triangles(const Model& model) {
  std::vector<PatternPlaces> places(model.triangles.size());
  for (const Object& object : model.objects) {
    const auto begin = static_cast<std::size_t>(object.triangle_begin);
    if (object.is_cloth()) {
      const std::vector<ThreadPlaces> threads = thread_places(model, object);
      for (std::size_t t = 0; t < threads.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) places[begin + t][k] = {threads[t][k][0], threads[t][k][1], 0};
    } else if (has_checker(model, object)) {
      const std::vector<Vec3f> cells = checker_places(model, object);
      for (std::size_t t = begin; t < static_cast<std::size_t>(object.triangle_end); ++t)
        for (std::size_t k = 0; k < 3; ++k)
          places[t][k] =
              cells[static_cast<std::size_t>(model.triangles[t][static_cast<int>(k)] - object.node_begin)];
    } else if (object.is_rigid()) {
      for (std::size_t t = begin; t < static_cast<std::size_t>(object.triangle_end); ++t)
        for (std::size_t k = 0; k < 3; ++k) {
          const std::int32_t node = model.triangles[t][static_cast<int>(k)];
          places[t][k] = model.rest_positions[static_cast<std::size_t>(node)].cast<float>();
        }
    }
  }
  return places;
}

std::vector<Vec<double, 3>> unit_normals(const Model& model) {
  std::vector<Vec<double, 3>> normals(model.triangles.size());
  for (std::size_t t = 0; t < normals.size(); ++t) {
    const Vec3i& n = model.triangles[t];
    const auto& x = model.rest_positions;
    normals[t] = normalized(cross(x[n[1]] - x[n[0]], x[n[2]] - x[n[0]]));
  }
  return normals;
}

}  // namespace

MeshTopology build_topology(const Model& model, double crease_degrees) {
  const NodeCorners nodes = corners_of_nodes(model);
  const std::vector<Vec<double, 3>> normals = unit_normals(model);
  const std::vector<std::uint32_t> look = look_of_triangles(model);
  const std::vector<PatternPlaces> places = places_of_triangles(model);
  const double smooth_cosine = std::cos(crease_degrees * std::numbers::pi / 180);

  MeshTopology mesh;
  mesh.indices.resize(3 * model.triangles.size());
  mesh.fans.reserve(nodes.corners.size());
  std::vector<std::size_t> parent;
  for (std::uint32_t node = 0; node < model.node_count(); ++node) {
    const Corner* corners = nodes.corners.data() + nodes.begin[node];
    const std::size_t count = nodes.begin[node + 1] - nodes.begin[node];
    parent.resize(count);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const std::uint32_t s = corners[i].triangle, t = corners[j].triangle;
        if (dot(normals[s], normals[t]) >= smooth_cosine &&
            share_edge(model.triangles[s], model.triangles[t]))
          parent[root(parent, i)] = root(parent, j);
      }
    for (std::size_t group = 0; group < count; ++group) {
      if (root(parent, group) != group) continue;
      const std::size_t first = mesh.vertices.size();
      const auto fan_begin = static_cast<std::uint32_t>(mesh.fans.size());
      for (std::size_t i = 0; i < count; ++i) {
        if (root(parent, i) != group) continue;
        mesh.fans.push_back(corners[i].triangle);
        const Vec3f& place = places[corners[i].triangle][static_cast<std::size_t>(corners[i].slot)];
        const shared::MeshVertex wanted{
            node, look[corners[i].triangle], fan_begin, fan_begin, place[0], place[1], place[2]};
        std::size_t vertex = first;
        while (vertex < mesh.vertices.size() && !same_but_fan(mesh.vertices[vertex], wanted)) ++vertex;
        if (vertex == mesh.vertices.size()) mesh.vertices.push_back(wanted);
        mesh.indices[3 * std::size_t{corners[i].triangle} + static_cast<std::size_t>(corners[i].slot)] =
            static_cast<std::uint32_t>(vertex);
      }
      for (std::size_t vertex = first; vertex < mesh.vertices.size(); ++vertex)
        mesh.vertices[vertex].fan_end = static_cast<std::uint32_t>(mesh.fans.size());
    }
  }
  return mesh;
}

}  // namespace stickslip
