#include "gpu/elastic/mesh_topology.h"

#include <algorithm>
#include <tuple>

namespace stickslip {
namespace {

void list_triangles(const Model& model, MeshTopology& out) {
  out.triangle_start.assign(model.node_count() + 1, 0);
  for (const Vec3i& t : model.triangles)
    for (int c = 0; c < 3; ++c) ++out.triangle_start[static_cast<std::size_t>(t[c]) + 1];
  for (std::size_t i = 0; i < model.node_count(); ++i) out.triangle_start[i + 1] += out.triangle_start[i];
  out.triangle_of.resize(3 * model.triangles.size());
  std::vector<std::int32_t> next(out.triangle_start.begin(), out.triangle_start.end() - 1);
  for (std::size_t t = 0; t < model.triangles.size(); ++t)
    for (int c = 0; c < 3; ++c)
      out.triangle_of[static_cast<std::size_t>(next[static_cast<std::size_t>(model.triangles[t][c])]++)] =
          static_cast<std::int32_t>(t);
}

/// Of a third triangle at an edge the node is dropped.
void list_edges(const Model& model, MeshTopology& out) {
  out.edge_start.assign(model.node_count() + 1, 0);
  for (const Vec2i& e : model.edges) ++out.edge_start[static_cast<std::size_t>(e[0]) + 1];
  for (std::size_t i = 0; i < model.node_count(); ++i) out.edge_start[i + 1] += out.edge_start[i];
  out.opposite.assign(model.edges.size(), {-1, -1});
  for (const Vec3i& t : model.triangles)
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = t[c], b = t[(c + 1) % 3], low = std::min(a, b), high = std::max(a, b);
      const auto first = model.edges.begin() + out.edge_start[static_cast<std::size_t>(low)];
      const auto last = model.edges.begin() + out.edge_start[static_cast<std::size_t>(low) + 1];
      const auto edge = std::find_if(first, last, [&](const Vec2i& e) { return e[1] == high; });
      if (edge == last) continue;
      std::int32_t& place = out.opposite[static_cast<std::size_t>(edge - model.edges.begin())][a < b ? 0 : 1];
      if (place < 0) place = t[(c + 2) % 3];
    }
}

/// Thin objects, and colliders that are open: some edge has one triangle.
void find_sheets(const Model& model, MeshTopology& out) {
  std::vector<std::uint8_t> open(model.objects.size(), 0);
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    const auto object = static_cast<std::size_t>(model.node_object[model.edges[e][0]]);
    if (model.objects[object].is_collider() && (out.opposite[e][0] < 0) != (out.opposite[e][1] < 0))
      open[object] = 1;
  }
  out.sheet.resize(model.node_count());
  for (std::size_t i = 0; i < model.node_count(); ++i)
    out.sheet[i] = model.objects[static_cast<std::size_t>(model.node_object[i])].is_thin() ||
                   open[static_cast<std::size_t>(model.node_object[i])];
}

/// The lowest node of a chain is its number.
void list_wires(const Model& model, MeshTopology& out) {
  out.wires.assign(model.node_count(), {-1, -1});
  const auto add = [&](std::int32_t node, std::int32_t other) {
    Vec2i& of = out.wires[static_cast<std::size_t>(node)];
    if (of[0] < 0) of[0] = other;
    else if (of[1] < 0) of[1] = other;
  };
  std::vector<std::int32_t>& parent = out.strand;
  parent.assign(model.node_count(), -1);
  const auto root = [&](std::int32_t node) {
    while (parent[static_cast<std::size_t>(node)] != node) {
      std::int32_t& up = parent[static_cast<std::size_t>(node)];
      up = parent[static_cast<std::size_t>(up)];
      node = up;
    }
    return node;
  };
  for (const Vec2i& s : model.segments)
    for (int c = 0; c < 2; ++c) {
      add(s[c], s[1 - c]);
      parent[static_cast<std::size_t>(s[c])] = s[c];
    }
  for (const Vec2i& s : model.segments) {
    const std::int32_t a = root(s[0]), b = root(s[1]);
    parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < parent.size(); ++i)
    if (parent[i] >= 0) parent[i] = root(static_cast<std::int32_t>(i));
}

double mean_edge(const Model& model, bool of_solids) {
  double sum = 0;
  std::size_t count = 0;
  for (const Vec2i& e : model.edges) {
    if (of_solids && !model.objects[static_cast<std::size_t>(model.node_object[e[0]])].is_movable()) continue;
    sum += norm(model.rest_positions[e[0]] - model.rest_positions[e[1]]);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

}  // namespace

MeshTopology mesh_topology(const Model& model) {
  MeshTopology out;
  list_triangles(model, out);
  list_edges(model, out);
  find_sheets(model, out);
  list_wires(model, out);
  out.mean_edge = mean_edge(model, true);
  if (!(out.mean_edge > 0)) out.mean_edge = mean_edge(model, false);
  return out;
}

std::vector<std::uint8_t> reported_edges(const Model& model) {
  // Lower node, higher node, whether the triangle traverses the edge backwards, triangle, corner.
  std::vector<std::tuple<std::int32_t, std::int32_t, bool, std::size_t, int>> sides;
  sides.reserve(3 * model.triangles.size());
  for (std::size_t t = 0; t < model.triangles.size(); ++t)
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = model.triangles[t][(c + 1) % 3], b = model.triangles[t][(c + 2) % 3];
      sides.emplace_back(std::min(a, b), std::max(a, b), a > b, t, c);
    }
  std::ranges::sort(sides);
  std::vector<std::uint8_t> reported(model.triangles.size(), 0);
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const auto& [low, high, backwards, t, c] = sides[k];
    if (k > 0 && std::get<0>(sides[k - 1]) == low && std::get<1>(sides[k - 1]) == high) continue;
    reported[t] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(c));
  }
  return reported;
}

}  // namespace stickslip
