#include "gpu/model/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <tuple>

#include "gpu/model/finite.h"
#include "gpu/model/rod.h"
#include "gpu/model/tet10.h"
#include "gpu/model/tet_volume.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

[[noreturn]] void refuse(const std::string& object, const std::string& what) {
  throw std::invalid_argument("object '" + object + "': " + what);
}

/// Flat up to rounding: the volume against that of a cube over the longest edge.
bool is_degenerate(const std::vector<Vec3d>& nodes, const Vec4i& t, double volume) {
  double longest2 = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) longest2 = std::max(longest2, norm2(nodes[t[i]] - nodes[t[j]]));
  return !(std::abs(volume) > 1e-10 * longest2 * std::sqrt(longest2));
}

template <int N>
void check_elements(const std::string& object, const char* kind, std::size_t node_count,
                    const std::vector<Vec<std::int32_t, N>>& elements, bool cover_all = true) {
  std::vector<bool> used(node_count, false);
  for (std::size_t e = 0; e < elements.size(); ++e)
    for (int c = 0; c < N; ++c) {
      const std::int32_t i = elements[e][c];
      if (i < 0 || static_cast<std::size_t>(i) >= node_count)
        refuse(object, std::string(kind) + " " + std::to_string(e) + " names node " + std::to_string(i) +
                           " of " + std::to_string(node_count));
      for (int b = 0; b < c; ++b)
        if (elements[e][b] == i)
          refuse(object,
                 std::string(kind) + " " + std::to_string(e) + " names node " + std::to_string(i) + " twice");
      used[i] = true;
    }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (cover_all && unused != used.end())
    refuse(object, "node " + std::to_string(unused - used.begin()) + " belongs to no " + kind);
}

/// The faces that belong to one tet only, outward, in the order of the tets.
std::vector<Vec3i> boundary_faces(const std::string& object, const std::vector<Vec4i>& tets) {
  static constexpr int outward[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  std::vector<Vec3i> faces;
  faces.reserve(4 * tets.size());
  for (const Vec4i& t : tets)
    for (const auto& f : outward) faces.push_back({t[f[0]], t[f[1]], t[f[2]]});

  const auto key = [&](std::size_t f) {
    std::array<std::int32_t, 3> k{faces[f][0], faces[f][1], faces[f][2]};
    std::sort(k.begin(), k.end());
    return k;
  };
  std::vector<std::size_t> order(faces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });

  std::vector<bool> inner(faces.size(), false);
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && key(order[end]) == key(order[i])) ++end;
    if (end - i > 2)
      refuse(object, "tet " + std::to_string(order[end - 1] / 4) + " shares a face with two other tets");
    if (end - i == 2) inner[order[i]] = inner[order[i + 1]] = true;
    i = end;
  }
  std::vector<Vec3i> boundary;
  for (std::size_t f = 0; f < faces.size(); ++f)
    if (!inner[f]) boundary.push_back(faces[f]);
  return boundary;
}

/// Opens a new object over `nodes`; its elements are still to come.
Object& append_object(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                      std::int32_t material) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!is_finite(nodes[i])) refuse(name, "node " + std::to_string(i) + " is not finite");
  const auto id = static_cast<std::int32_t>(model.objects.size());
  Object object;
  object.name = std::move(name);
  object.material = material;
  object.node_begin = static_cast<std::int32_t>(model.positions.size());
  object.node_end = object.node_begin + static_cast<std::int32_t>(nodes.size());
  object.tet_begin = object.tet_end = static_cast<std::int32_t>(model.tets.size());
  object.triangle_begin = object.triangle_end = static_cast<std::int32_t>(model.triangles.size());
  object.segment_begin = object.segment_end = static_cast<std::int32_t>(model.segments.size());
  model.rest_positions.insert(model.rest_positions.end(), nodes.begin(), nodes.end());
  model.positions.insert(model.positions.end(), nodes.begin(), nodes.end());
  model.velocities.resize(model.positions.size(), Vec3d::zero());
  model.node_object.resize(model.positions.size(), id);
  return model.objects.emplace_back(std::move(object));
}

template <int N>
std::int32_t append_elements(std::vector<Vec<std::int32_t, N>>& all,
                             const std::vector<Vec<std::int32_t, N>>& added, std::int32_t node_begin) {
  for (const auto& element : added) all.push_back(element + Vec<std::int32_t, N>::filled(node_begin));
  return static_cast<std::int32_t>(all.size());
}

void script(Model& model, const Object& object, const Motion& motion) {
  ScriptedNodes script;
  script.nodes.resize(object.node_end - object.node_begin);
  std::iota(script.nodes.begin(), script.nodes.end(), object.node_begin);
  script.motion = motion;
  model.scripted.push_back(std::move(script));
}

void check_triangles(const std::string& name, const std::vector<Vec3d>& nodes,
                     const std::vector<Vec3i>& triangles) {
  check_elements<3>(name, "triangle", nodes.size(), triangles);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Vec3d &a = nodes[triangles[t][0]], &b = nodes[triangles[t][1]], &c = nodes[triangles[t][2]];
    const double longest2 = std::max({norm2(b - a), norm2(c - b), norm2(a - c)});
    if (!(norm(cross(b - a, c - a)) > 1e-10 * longest2))
      refuse(name, "triangle " + std::to_string(t) + " has no area");
  }
}

/// At most two triangles at an edge, which run along it in opposite directions.
void check_manifold(const std::string& name, const std::vector<Vec3i>& triangles) {
  struct Side {
    std::int32_t low, high;
    bool upward;  // from low to high
    std::size_t triangle;
  };
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (int c = 0; c < 3; ++c) {
      const std::int32_t a = triangles[t][c], b = triangles[t][(c + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), a < b, t});
    }
  std::ranges::sort(sides, {}, [](const Side& s) { return std::tuple(s.low, s.high, s.triangle); });
  for (std::size_t i = 1; i < sides.size(); ++i) {
    const auto same = [&](std::size_t a, std::size_t b) {
      return sides[a].low == sides[b].low && sides[a].high == sides[b].high;
    };
    if (!same(i, i - 1)) continue;
    const std::string edge =
        "the edge between nodes " + std::to_string(sides[i].low) + " and " + std::to_string(sides[i].high);
    if (i > 1 && same(i, i - 2))
      refuse(name, edge + " belongs to triangles " + std::to_string(sides[i - 2].triangle) + ", " +
                       std::to_string(sides[i - 1].triangle) + " and " + std::to_string(sides[i].triangle) +
                       ": cloth has at most two at an edge");
    if (sides[i].upward == sides[i - 1].upward)
      refuse(name, "triangles " + std::to_string(sides[i - 1].triangle) + " and " +
                       std::to_string(sides[i].triangle) + " have opposite orientations at " + edge);
  }
}

/// The tets with positive volumes, after checks.
std::vector<Vec4i> oriented_tets(const std::string& name, const std::vector<Vec3d>& nodes,
                                 const std::vector<Vec4i>& tets) {
  if (tets.empty()) refuse(name, "a solid needs at least one tet");
  check_elements<4>(name, "tet", nodes.size(), tets);
  std::vector<Vec4i> oriented = tets;
  for (std::size_t t = 0; t < oriented.size(); ++t) {
    const double volume = tet_volume(nodes, oriented[t]);
    if (is_degenerate(nodes, oriented[t], volume))
      refuse(name, "tet " + std::to_string(t) + " has no volume");
    if (volume < 0) std::swap(oriented[t][2], oriented[t][3]);
  }
  return oriented;
}

/// `tets` of positive volume.
Object& append_solid(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                     const std::vector<Vec4i>& tets, std::int32_t material) {
  const std::vector<Vec3i> surface = boundary_faces(name, tets);
  Object& object = append_object(model, std::move(name), nodes, material);
  object.tet_end = append_elements<4>(model.tets, tets, object.node_begin);
  object.triangle_end = append_elements<3>(model.triangles, surface, object.node_begin);
  return object;
}

}  // namespace

Object& add_solid(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                  const std::vector<Vec4i>& tets, std::int32_t material) {
  const std::vector<Vec4i> oriented = oriented_tets(name, nodes, tets);
  return append_solid(model, std::move(name), nodes, oriented, material);
}

Object& add_ten_node_solid(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                           const std::vector<Vec4i>& tets, std::int32_t material) {
  const std::vector<Vec4i> oriented = oriented_tets(name, nodes, tets);
  boundary_faces(name, oriented);  // a fault is reported by the number of the tet, not of a part
  const auto ends = [](const Vec4i& tet, int node) {
    const auto [low, high] = std::minmax({tet[tet10_end(node, 0)], tet[tet10_end(node, 1)]});
    return std::pair(low, high);
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  edges.reserve(6 * oriented.size());
  for (const Vec4i& tet : oriented)
    for (int node = 4; node < kTet10Nodes; ++node) edges.push_back(ends(tet, node));
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  std::vector<Vec3d> all = nodes;
  all.reserve(nodes.size() + edges.size());
  for (const auto& [a, b] : edges) all.push_back(0.5 * (nodes[a] + nodes[b]));
  std::vector<Vec4i> parts;
  parts.reserve(kTet10Parts * oriented.size());
  for (const Vec4i& tet : oriented) {
    Tet10 element{{tet[0], tet[1], tet[2], tet[3]}};
    for (int node = 4; node < kTet10Nodes; ++node)
      element.v[node] = static_cast<std::int32_t>(
          nodes.size() +
          static_cast<std::size_t>(std::ranges::lower_bound(edges, ends(tet, node)) - edges.begin()));
    for (int p = 0; p < kTet10Parts; ++p) {
      Vec4i& part = parts.emplace_back();
      for (int c = 0; c < 4; ++c) part[c] = element[tet10_part(p, c)];
    }
  }
  Object& object = append_solid(model, std::move(name), all, parts, material);
  object.ten_node = true;
  return object;
}

Object& add_cloth(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                  const std::vector<Vec3i>& triangles, std::int32_t material, double thickness) {
  if (triangles.empty()) refuse(name, "cloth needs at least one triangle");
  check_triangles(name, nodes, triangles);
  check_manifold(name, triangles);
  if (!(thickness > 0 && std::isfinite(thickness))) refuse(name, "its thickness must be positive");
  Object& object = append_object(model, std::move(name), nodes, material);
  object.triangle_end = append_elements<3>(model.triangles, triangles, object.node_begin);
  object.thickness = thickness;
  return object;
}

Object& add_rods(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                 const std::vector<Vec2i>& segments, std::int32_t material, double diameter, double aspect) {
  if (segments.empty()) refuse(name, "rods need at least one segment");
  check_elements<2>(name, "segment", nodes.size(), segments);
  if (!(diameter > 0 && std::isfinite(diameter))) refuse(name, "its diameter must be positive");
  if (!(aspect > 0 && std::isfinite(aspect))) refuse(name, "its aspect must be positive");
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (!(norm(nodes[segments[s][1]] - nodes[segments[s][0]]) > 0))
      refuse(name, "segment " + std::to_string(s) + " has no length");
  std::vector<Vec3d> all;
  try {
    for (const auto& [a, b] : rod_joints(segments)) {
      const Vec3d before = normalized(nodes[segments[a][1]] - nodes[segments[a][0]]);
      const Vec3d after = normalized(nodes[segments[b][1]] - nodes[segments[b][0]]);
      if (dot(before, after) < -0.999)
        throw std::invalid_argument("segment " + std::to_string(b) + " turns back on segment " +
                                    std::to_string(a));
    }
    all = place_ghosts(nodes, segments, diameter);
  } catch (const std::invalid_argument& error) {
    refuse(name, error.what());
  }
  all.insert(all.end(), nodes.begin(), nodes.end());
  Object& object = append_object(model, std::move(name), all, material);
  object.collides_from = object.node_begin + static_cast<std::int32_t>(segments.size());
  object.segment_end = append_elements<2>(model.segments, segments, object.collides_from);
  object.thickness = diameter;
  object.aspect = aspect;
  return object;
}

Object& add_collider(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                     const std::vector<Vec3i>& triangles, std::int32_t material, const Motion& motion) {
  if (triangles.empty()) refuse(name, "a collider needs at least one triangle");
  check_triangles(name, nodes, triangles);
  Object& object = append_object(model, std::move(name), nodes, material);
  object.triangle_end = append_elements<3>(model.triangles, triangles, object.node_begin);
  script(model, object, motion);
  return object;
}

Object& add_point_collider(Model& model, std::string name, const std::vector<Vec3d>& nodes,
                           const std::vector<Vec2i>& segments, std::int32_t material, const Motion& motion) {
  if (nodes.empty()) refuse(name, "a collider needs at least one point");
  check_elements<2>(name, "segment", nodes.size(), segments, false);
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (nodes[segments[s][0]] == nodes[segments[s][1]])
      refuse(name, "segment " + std::to_string(s) + " has no length");
  Object& object = append_object(model, std::move(name), nodes, material);
  object.segment_end = append_elements<2>(model.segments, segments, object.node_begin);
  script(model, object, motion);
  return object;
}

}  // namespace stickslip
