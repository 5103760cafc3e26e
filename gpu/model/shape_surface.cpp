#include "gpu/model/shape_surface.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "gpu/model/convex_hull.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;
using std::numbers::pi;

// Regularises the planes of a node whose triangles do not span space.
constexpr double kSoft = 1e-9;

// Least and largest number of sides around a round shape.
constexpr int kFewestSides = 8, kMostSides = 256;

/// Sides of a polygon in a circle whose middles are at most `tolerance` radii from the circle.
int sides_of(double tolerance) {
  const double half = std::acos(1 - std::clamp(tolerance, 1e-6, 0.3));
  return std::clamp(4 * static_cast<int>(std::ceil(pi / half / 4)), kFewestSides, kMostSides);
}

ShapeSurface box(const Vec3d& half) {
  ShapeSurface s;
  for (int c = 0; c < 8; ++c)
    s.nodes.push_back({(c & 1 ? 1 : -1) * half[0], (c & 2 ? 1 : -1) * half[1], (c & 4 ? 1 : -1) * half[2]});
  s.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                 {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  return s;
}

/// An icosahedron whose faces are split into n^2 triangles, on the sphere.
ShapeSurface split_icosahedron(double radius, int n) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  const Vec3d corner[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                            {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  constexpr int face[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                               {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                               {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                               {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  ShapeSurface s;
  // A node is a combination of two or three corners with whole weights: shared where these agree.
  std::map<std::vector<std::pair<int, int>>, std::int32_t> known;
  for (const auto& f : face) {
    const auto node = [&](int i, int j) {
      const int weight[3] = {n - i - j, i, j};
      std::vector<std::pair<int, int>> key;
      Vec3d x = Vec3d::zero();
      for (int c = 0; c < 3; ++c) {
        if (weight[c] == 0) continue;
        key.emplace_back(f[c], weight[c]);
      }
      std::ranges::sort(key);
      for (const auto& [at, w] : key) x += w * corner[at];
      const auto [place, is_new] = known.try_emplace(key, static_cast<std::int32_t>(s.nodes.size()));
      if (is_new) s.nodes.push_back(radius * normalized(x));
      return place->second;
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        s.triangles.push_back({node(i, j), node(i + 1, j), node(i, j + 1)});
        if (i + j + 2 <= n) s.triangles.push_back({node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)});
      }
  }
  return s;
}

ShapeSurface sphere(double radius, double tolerance) {
  const double least = radius * (1 - std::clamp(tolerance, 1e-4, 0.3));
  for (int n = 1;; ++n) {
    ShapeSurface s = split_icosahedron(radius, n);
    const bool near = std::ranges::all_of(s.triangles, [&](const Vec3i& t) {
      const auto x = [&](int c) { return s.nodes[static_cast<std::size_t>(t[c])]; };
      return dot(normalized(cross(x(1) - x(0), x(2) - x(0))), x(0)) >= least;
    });
    if (near) return s;
  }
}

/// A surface of revolution about y through points (r, y) from the lower pole to the upper one.
ShapeSurface revolved(const std::vector<std::pair<double, double>>& profile, int sides) {
  ShapeSurface s;
  s.nodes.push_back({0, profile.front().second, 0});
  const auto rings = static_cast<int>(profile.size()) - 2;
  for (int k = 1; k <= rings; ++k)
    for (int i = 0; i < sides; ++i) {
      const double angle = 2 * pi * i / sides, r = profile[static_cast<std::size_t>(k)].first;
      s.nodes.push_back(
          {r * std::cos(angle), profile[static_cast<std::size_t>(k)].second, r * std::sin(angle)});
    }
  const auto top = static_cast<std::int32_t>(s.nodes.size());
  s.nodes.push_back({0, profile.back().second, 0});
  const auto at = [&](int ring, int i) { return 1 + ring * sides + i % sides; };
  for (int i = 0; i < sides; ++i) {
    s.triangles.push_back({0, at(0, i), at(0, i + 1)});
    for (int k = 0; k + 1 < rings; ++k) {
      s.triangles.push_back({at(k, i), at(k + 1, i), at(k, i + 1)});
      s.triangles.push_back({at(k, i + 1), at(k + 1, i), at(k + 1, i + 1)});
    }
    s.triangles.push_back({top, at(rings - 1, i + 1), at(rings - 1, i)});
  }
  return s;
}

ShapeSurface capsule(double radius, double half, double tolerance) {
  // Its ends bend in two directions, whose deviations add up.
  const int sides = sides_of(tolerance / 2), rings = sides / 4;
  std::vector<std::pair<double, double>> profile;
  for (const int side : {-1, 1})
    for (int k = 0; k <= rings; ++k) {
      const double angle = pi / 2 * (side < 0 ? rings - k : k) / rings;
      if (side > 0 && k == 0 && !(half > 0)) continue;  // both rims are one
      profile.emplace_back(radius * std::cos(angle), side * (half + radius * std::sin(angle)));
    }
  return revolved(profile, sides);
}

ShapeSurface cylinder(double radius, double half, double tolerance) {
  return revolved({{0, -half}, {radius, -half}, {radius, half}, {0, half}}, sides_of(tolerance));
}

ShapeSurface surface_of(const Model& model, const Shape& shape, double tolerance) {
  switch (shape.kind) {
    case ShapeKind::sphere:
      return sphere(shape.size[0], tolerance);
    case ShapeKind::capsule:
      return capsule(shape.size[0], shape.size[1], tolerance);
    case ShapeKind::box:
      return box(shape.size);
    case ShapeKind::cylinder:
      return cylinder(shape.size[0], shape.size[1], tolerance);
    case ShapeKind::hull: {
      const ConvexHull& hull = model.hulls[static_cast<std::size_t>(shape.data)];
      return {hull.vertices, triangles_of(hull)};
    }
    case ShapeKind::mesh: {
      const ShapeMesh& mesh = model.shape_meshes[static_cast<std::size_t>(shape.data)];
      return {mesh.vertices, mesh.triangles};
    }
  }
  return {};
}

}  // namespace

ShapeSurface shape_surface(const Model& model, const Body& body, double tolerance) {
  ShapeSurface all;
  for (std::int32_t i = body.shape_begin; i < body.shape_end; ++i) {
    const Shape& shape = model.shapes[static_cast<std::size_t>(i)];
    const ShapeSurface part = surface_of(model, shape, tolerance);
    const auto first = static_cast<std::int32_t>(all.nodes.size());
    for (const Vec3d& p : part.nodes) all.nodes.push_back(shape.pose.apply(p));
    for (const Vec3i& t : part.triangles) all.triangles.push_back(t + Vec3i::filled(first));
  }
  return all;
}

std::vector<Vec3d> shrunk_surface(const std::vector<Vec3d>& nodes, const std::vector<Vec3i>& triangles,
                                  double skin) {
  std::vector<Mat3d> planes(nodes.size(), Mat3d::zero());
  std::vector<Vec3d> pull(nodes.size(), Vec3d::zero());
  for (const Vec3i& t : triangles) {
    const Vec3d& a = nodes[static_cast<std::size_t>(t[0])];
    const Vec3d normal =
        cross(nodes[static_cast<std::size_t>(t[1])] - a, nodes[static_cast<std::size_t>(t[2])] - a);
    const double size = norm(normal);
    if (!(size > 0)) continue;
    const Vec3d n = normal / size;
    for (int c = 0; c < 3; ++c) {
      planes[static_cast<std::size_t>(t[c])] += outer(n, n);
      pull[static_cast<std::size_t>(t[c])] += n;
    }
  }
  std::vector<Vec3d> out = nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double size = trace(planes[i]);
    if (!(size > 0)) continue;
    const Vec3d move = inverse(planes[i] + (kSoft * size) * Mat3d::identity()) * pull[i];
    const double length = norm(move);
    out[i] -= (skin * std::min(1.0, kMostMiter / length)) * move;
  }
  return out;
}

}  // namespace stickslip
