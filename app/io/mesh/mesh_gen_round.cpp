// Bodies made from a sphere, and surfaces of revolution.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_gen_checks.h"
#include "app/io/mesh/mesh_gen_refine.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using std::numbers::pi;

/// A geodesic sphere of radius 1: each face of an icosahedron is cut into n^2 triangles.
SurfaceMesh geodesic_sphere(int n) { return boundary_surface(make_sphere(1, 1.0 / n)); }

double angle_between(const Vec3d& a, const Vec3d& b) { return std::atan2(norm(cross(a, b)), dot(a, b)); }

/// The twelve icosahedron corners of a geodesic sphere: they have five triangles instead of six.
std::vector<std::int32_t> icosahedron_corners(const SurfaceMesh& sphere) {
  std::vector<int> valence(sphere.nodes.size(), 0);
  for (const Vec3i& t : sphere.triangles)
    for (int c = 0; c < 3; ++c) ++valence[t[c]];
  std::vector<std::int32_t> corners;
  for (std::size_t i = 0; i < valence.size(); ++i)
    if (valence[i] == 5) corners.push_back(static_cast<std::int32_t>(i));
  return corners;
}

/// Opens a round window of half angle `half` at each icosahedron corner of a geodesic sphere with n = 5, and
/// drops the nodes inside.
SurfaceMesh with_windows(const SurfaceMesh& sphere, double half) {
  // Nodes two steps from a corner (20 to 26 degrees) become the rim of the window; the next lie beyond 30.
  const double rim_within = 28 * pi / 180;
  SurfaceMesh open{sphere.nodes, {}};
  std::vector<bool> within(sphere.nodes.size(), false);
  for (const std::int32_t corner : icosahedron_corners(sphere)) {
    const Vec3d axis = sphere.nodes[corner];
    for (std::size_t i = 0; i < within.size(); ++i) {
      const Vec3d& p = sphere.nodes[i];
      if (angle_between(axis, p) > rim_within) continue;
      within[i] = true;
      const Vec3d away = p - dot(p, axis) * axis;
      if (norm(away) > 1e-6) open.nodes[i] = std::cos(half) * axis + std::sin(half) * normalized(away);
    }
  }
  for (const Vec3i& t : sphere.triangles)
    if (!(within[t[0]] && within[t[1]] && within[t[2]])) open.triangles.push_back(t);
  drop_unused(open);
  return open;
}

/// A closed surface of revolution about y. The outline (r, y) starts and ends on the axis, with the outside
/// on its right.
SurfaceMesh revolved(const std::vector<Vec<double, 2>>& outline, int segments) {
  SurfaceMesh mesh;
  const auto rings = static_cast<int>(outline.size()) - 2;
  mesh.nodes.push_back({0, outline.front()[1], 0});
  for (int ring = 1; ring <= rings; ++ring)
    for (int i = 0; i < segments; ++i) {
      const double angle = 2 * pi * i / segments, r = outline[ring][0];
      mesh.nodes.push_back({r * std::cos(angle), outline[ring][1], r * std::sin(angle)});
    }
  const auto last = static_cast<std::int32_t>(mesh.nodes.size());
  mesh.nodes.push_back({0, outline.back()[1], 0});
  const auto node = [&](int ring, int i) { return 1 + (ring - 1) * segments + i % segments; };
  for (int i = 0; i < segments; ++i) {
    mesh.triangles.push_back({0, node(1, i + 1), node(1, i)});
    mesh.triangles.push_back({last, node(rings, i), node(rings, i + 1)});
    for (int ring = 1; ring < rings; ++ring) {
      const int a = node(ring, i), b = node(ring, i + 1), c = node(ring + 1, i), d = node(ring + 1, i + 1);
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({a, d, c});
    }
  }
  return mesh;
}

}  // namespace

TetMesh make_puffer(double radius, double spine, double edge) {
  check_length("radius", radius);
  check_length("spine", spine);
  check_length("edge", edge);
  // The spines stand at the corners and edge middles of the sphere's icosahedron. These are nodes if the
  // number of shells is even.
  const double cells_wished = along(radius, edge);
  check_count(20 * std::pow(std::max(4.0, cells_wished), 3));
  const int n = std::max(4, 2 * cells(radius, 2 * edge));
  TetMesh mesh = make_sphere(radius, radius / n);
  const std::vector<Vec3d> tips = geodesic_sphere(2).nodes;
  const double foot = 15.5 * pi / 180;  // half the angle of a spine's base; spines are 32 degrees apart
  for (Vec3d& p : mesh.nodes) {
    const double r = norm(p);
    if (r < 0.5 * radius / n) continue;
    double nearest = pi;
    for (const Vec3d& tip : tips) nearest = std::min(nearest, angle_between(tip, p / r));
    // The stretch of a spine decreases towards the middle, so that no shell passes another.
    const double share = r / radius;
    p = (1 + spine / radius * std::max(0.0, 1 - nearest / foot) * share * share) * p;
  }
  return mesh;
}

TetMesh make_shell(double radius, double thickness, bool windows, double edge) {
  check_length("radius", radius);
  check_length("thickness", thickness);
  check_length("edge", edge);
  if (thickness >= radius) throw std::invalid_argument("thickness must be smaller than the radius");
  // Coarse prisms of about a quarter of the radius resolve the windows; then each of their tets is refined.
  const double pieces = along(radius / 4, edge);
  check_count(3 * 500 * pieces * pieces * pieces);
  const SurfaceMesh ball = geodesic_sphere(5);
  const SurfaceMesh skin = windows ? with_windows(ball, 23 * pi / 180) : ball;
  const auto nodes = static_cast<int>(skin.nodes.size());
  const auto direction = [&](int node) { return skin.nodes[node % nodes]; };
  const auto distance = [&](int node) { return node < nodes ? radius - thickness : radius; };
  const int n = cells(radius / 4, edge);
  return refined(cut_prisms(skin.triangles, nodes, 1, false), n,
                 [&](const Vec4i& tet, const std::array<int, 4>& weights) {
                   Vec3d towards = Vec3d::zero();
                   double r = 0;
                   for (int c = 0; c < 4; ++c) {
                     towards += double(weights[c]) / n * direction(tet[c]);
                     r += weights[c] * distance(tet[c]) / n;
                   }
                   return r * normalized(towards);
                 });
}

SurfaceMesh make_capsule(double radius, double height, double edge) {
  check_length("radius", radius);
  check_length("edge", edge);
  if (!(height >= 0)) throw std::invalid_argument("height must not be negative");
  check_count(2 * along(2 * pi * radius, edge) * along(pi * radius, edge));
  const int steps = std::max(3, cells(pi / 2 * radius, edge));  // from a pole to the tube
  std::vector<Vec<double, 2>> outline;                          // from the upper pole down
  for (const double end : {1.0, -1.0})
    for (int i = 0; i <= steps; ++i) {
      if (i == 0 && end < 0 && height == 0) continue;  // both halves share the equator
      const double angle = pi / 2 * (end > 0 ? i : steps - i) / steps;
      outline.push_back({radius * std::sin(angle), end * (height / 2 + radius * std::cos(angle))});
    }
  return revolved(outline, std::max(8, cells(2 * pi * radius, edge)));
}

SurfaceMesh make_drum(double radius, double height, double edge) {
  check_length("radius", radius);
  check_length("height", height);
  check_length("edge", edge);
  check_count(4 * along(2 * pi * radius, edge));
  return revolved({{0, height / 2}, {radius, height / 2}, {radius, -height / 2}, {0, -height / 2}},
                  std::max(8, cells(2 * pi * radius, edge)));
}

SurfaceMesh make_bowl(double radius, double height, double thickness, double edge) {
  check_length("radius", radius);
  check_length("height", height);
  check_length("thickness", thickness);
  check_length("edge", edge);
  check_count(2 * along(2 * pi * (radius + thickness), edge) * along(2 * (height + 2 * radius), edge));
  const double bend = std::acos(std::max(0.0, 1 - height / radius));  // of the round part, from its bottom
  const double wall = std::max(0.0, height - radius);
  const double center = radius + thickness;  // of the sphere, above the ground
  // Up the inner face, over the rim, down the outer face.
  std::vector<Vec<double, 2>> inner, rim, outer;
  const auto arc = [&](double r, std::vector<Vec<double, 2>>& points) {
    const int steps = std::max(4, cells(bend * radius, edge));
    for (int i = 0; i <= steps; ++i) {
      const double angle = bend * i / steps;
      points.push_back({r * std::sin(angle), center - r * std::cos(angle)});
    }
    for (int i = 1, rows = cells(wall, edge); wall > 0 && i <= rows; ++i)
      points.push_back({r, center + wall * i / rows});
  };
  arc(radius, inner);
  arc(radius + thickness, outer);
  const Vec<double, 2> middle = 0.5 * (inner.back() + outer.back());
  const Vec<double, 2> across = inner.back() - middle, up{-across[1], across[0]};
  for (int i = 1; i < 4; ++i)
    rim.push_back(middle + std::cos(pi * i / 4) * across - std::sin(pi * i / 4) * up);
  std::vector<Vec<double, 2>> outline = inner;
  outline.insert(outline.end(), rim.begin(), rim.end());
  outline.insert(outline.end(), outer.rbegin(), outer.rend());
  return revolved(outline, std::max(12, cells(2 * pi * radius, edge)));
}

}  // namespace stickslip
