#include "app/io/mesh_gen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>

#include "app/io/memory.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using std::numbers::pi;

void check_length(const char* what, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw std::invalid_argument(std::string(what) + " = " + std::to_string(value) + " m: must be positive");
}

void check_count(double elements) {
  if (elements > 1e7)
    throw std::invalid_argument("edge is too short for this size: about " +
                                std::to_string(static_cast<long long>(elements)) + " elements");
  if (const std::string shortage = memory_shortage(kBytesPerTet * elements); !shortage.empty())
    throw std::invalid_argument("edge is too short for this machine: the body " + shortage);
}

/// The number of elements along a length, before rounding.
double along(double length, double edge) { return std::max(1.0, length / edge); }

int cells(double length, double edge) { return std::max(1, static_cast<int>(std::lround(length / edge))); }

/// A triangulated disc: node 0 in the middle, ring k with 6k nodes; cross-section of cylinder and torus.
struct Disc {
  std::vector<Vec<double, 2>> nodes;
  std::vector<Vec3i> triangles;  // counter-clockwise
};

Disc make_disc(double radius, int rings) {
  const auto node = [](int ring, int i) {
    return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1) + i % (6 * ring);
  };
  Disc disc;
  disc.nodes.push_back({0, 0});
  for (int ring = 1; ring <= rings; ++ring)
    for (int i = 0; i < 6 * ring; ++i) {
      const double angle = 2 * pi * i / (6 * ring), r = radius * ring / rings;
      disc.nodes.push_back({r * std::cos(angle), r * std::sin(angle)});
    }
  for (int ring = 1; ring <= rings; ++ring)
    for (int sector = 0; sector < 6; ++sector)
      for (int i = 0; i < ring; ++i) {
        const int outer = sector * ring + i, inner = sector * (ring - 1) + i;
        disc.triangles.push_back({node(ring - 1, inner), node(ring, outer), node(ring, outer + 1)});
        if (i + 1 < ring)
          disc.triangles.push_back({node(ring - 1, inner), node(ring, outer + 1), node(ring - 1, inner + 1)});
      }
  return disc;
}

/// Cuts the prism between two copies of each triangle into three tets. The diagonals follow the order of the
/// disc's nodes, so neighbouring prisms agree on them, also around a closed loop.
std::vector<Vec4i> cut_prisms(const Disc& disc, int layers, bool closed) {
  const auto nodes = static_cast<int>(disc.nodes.size());
  std::vector<Vec4i> tets;
  for (int layer = 0; layer < layers; ++layer)
    for (const Vec3i& triangle : disc.triangles) {
      std::array<int, 3> t{triangle[0], triangle[1], triangle[2]};
      std::sort(t.begin(), t.end());
      const int low = layer * nodes, high = (closed && layer + 1 == layers ? 0 : layer + 1) * nodes;
      tets.push_back({low + t[0], low + t[1], low + t[2], high + t[2]});
      tets.push_back({low + t[0], low + t[1], high + t[1], high + t[2]});
      tets.push_back({low + t[0], high + t[0], high + t[1], high + t[2]});
    }
  return tets;
}

double tet_volume(const TetMesh& mesh, const Vec4i& t) {
  const auto& x = mesh.nodes;
  return dot(x[t[1]] - x[t[0]], cross(x[t[2]] - x[t[0]], x[t[3]] - x[t[0]])) / 6;
}

TetMesh oriented(TetMesh mesh) {
  for (Vec4i& t : mesh.tets)
    if (tet_volume(mesh, t) < 0) std::swap(t[2], t[3]);
  return mesh;
}

struct Icosahedron {
  std::array<Vec3d, 12> corners;
  std::vector<Vec3i> faces;  // ascending corners
};

Icosahedron make_icosahedron() {
  Icosahedron ico;
  const double phi = std::numbers::phi;
  int n = 0;
  for (const double a : {-1.0, 1.0})
    for (const double b : {-phi, phi}) {
      ico.corners[n++] = normalized(Vec3d{0, a, b});
      ico.corners[n++] = normalized(Vec3d{a, b, 0});
      ico.corners[n++] = normalized(Vec3d{b, 0, a});
    }
  const double side2 = 4 / (1 + phi * phi);
  const auto adjacent = [&](int i, int j) {
    return std::abs(norm2(ico.corners[i] - ico.corners[j]) - side2) < 1e-9;
  };
  for (int i = 0; i < 12; ++i)
    for (int j = i + 1; j < 12; ++j)
      for (int k = j + 1; k < 12; ++k)
        if (adjacent(i, j) && adjacent(j, k) && adjacent(i, k)) ico.faces.push_back({i, j, k});
  return ico;
}

/// Position on the unit sphere of a point with weights (a, b, c) on a face: slerp from corner to edge point
/// keeps the triangles of one shell alike.
Vec3d slerp(const Vec3d& p, const Vec3d& q, double s) {
  const double angle = std::acos(std::clamp(dot(p, q), -1.0, 1.0));
  if (angle < 1e-12) return p;
  return (std::sin((1 - s) * angle) * p + std::sin(s * angle) * q) / std::sin(angle);
}

Vec3d on_sphere(const Vec3d& a, const Vec3d& b, const Vec3d& c, double wa, double wb, double wc) {
  // Averaged over the three corners, so that the two faces beside an edge agree on it and the result is
  // symmetric.
  const auto from = [](const Vec3d& p, const Vec3d& q, const Vec3d& r, double wp, double wq, double wr) {
    const double s = wq + wr;
    return s <= 0 ? p : slerp(p, slerp(q, r, wr / s), s / (wp + s));
  };
  return normalized(from(a, b, c, wa, wb, wc) + from(b, c, a, wb, wc, wa) + from(c, a, b, wc, wa, wb));
}

}  // namespace

TetMesh make_box(const Vec3d& size, double edge) {
  for (int c = 0; c < 3; ++c) check_length("size", size[c]);
  check_length("edge", edge);
  check_count(5 * along(size[0], edge) * along(size[1], edge) * along(size[2], edge));
  const int n[3] = {cells(size[0], edge), cells(size[1], edge), cells(size[2], edge)};
  TetMesh mesh;
  for (int z = 0; z <= n[2]; ++z)
    for (int y = 0; y <= n[1]; ++y)
      for (int x = 0; x <= n[0]; ++x)
        mesh.nodes.push_back({size[0] * (double(x) / n[0] - 0.5), size[1] * (double(y) / n[1] - 0.5),
                              size[2] * (double(z) / n[2] - 0.5)});
  // Five tets per cell, one of them between four alternate corners; neighbouring cells are mirror images.
  static constexpr int even[5][4] = {{0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}, {1, 2, 4, 7}};
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x)
        for (const auto& corners : even) {
          Vec4i tet{};
          for (int c = 0; c < 4; ++c) {
            const int corner = (x + y + z) % 2 == 0 ? corners[c] : corners[c] ^ 1;
            const int i = x + (corner & 1), j = y + (corner >> 1 & 1), k = z + (corner >> 2);
            tet[c] = i + (n[0] + 1) * (j + (n[1] + 1) * k);
          }
          mesh.tets.push_back(tet);
        }
  return oriented(std::move(mesh));
}

TetMesh make_bar(double length, double width, double edge) { return make_box({length, width, width}, edge); }

TetMesh make_voussoir(double radius, double thickness, double depth, double angle, double edge) {
  check_length("radius", radius);
  check_length("thickness", thickness);
  if (!(angle > 0 && angle < 180))
    throw std::invalid_argument("angle = " + std::to_string(angle) + " degrees: must be between 0 and 180");
  const double middle = radius + thickness / 2;
  TetMesh mesh = make_box({angle * pi / 180 * middle, thickness, depth}, edge);
  for (Vec3d& p : mesh.nodes) {
    const double turn = p[0] / middle, r = middle + p[1];
    p = {r * std::sin(turn), r * std::cos(turn), p[2]};
  }
  return mesh;
}

TetMesh make_cylinder(double radius, double height, double edge) {
  check_length("radius", radius);
  check_length("height", height);
  check_length("edge", edge);
  check_count(18 * along(radius, edge) * along(radius, edge) * along(height, edge));
  const Disc disc = make_disc(radius, cells(radius, edge));
  const int layers = cells(height, edge);
  TetMesh mesh;
  for (int layer = 0; layer <= layers; ++layer)
    for (const auto& p : disc.nodes)
      mesh.nodes.push_back({p[0], height * (double(layer) / layers - 0.5), p[1]});
  mesh.tets = cut_prisms(disc, layers, false);
  return oriented(std::move(mesh));
}

TetMesh make_torus(double radius, double tube_radius, double edge) {
  check_length("radius", radius);
  check_length("tube_radius", tube_radius);
  check_length("edge", edge);
  if (tube_radius >= radius)
    throw std::invalid_argument("tube_radius must be smaller than the torus' radius");
  check_count(18 * along(tube_radius, edge) * along(tube_radius, edge) * along(2 * pi * radius, edge));
  const Disc disc = make_disc(tube_radius, cells(tube_radius, edge));
  const int segments = std::max(8, cells(2 * pi * radius, edge));
  TetMesh mesh;
  for (int segment = 0; segment < segments; ++segment) {
    const double angle = 2 * pi * segment / segments;
    for (const auto& p : disc.nodes)
      mesh.nodes.push_back({(radius + p[0]) * std::cos(angle), p[1], (radius + p[0]) * std::sin(angle)});
  }
  mesh.tets = cut_prisms(disc, segments, true);
  return oriented(std::move(mesh));
}

TetMesh make_sphere(double radius, double edge) {
  check_length("radius", radius);
  check_length("edge", edge);
  check_count(20 * std::pow(along(radius, edge), 3));
  const int n = cells(radius, edge);
  const Icosahedron ico = make_icosahedron();
  TetMesh mesh;
  // Each face with the centre is a tet; its lattice points are (s, i, j) with n >= s >= i >= j >= 0: shell s,
  // and the weights s - i, i - j, j of the face's three corners. Freudenthal's subdivision of that lattice is
  // consistent across tets because all list their corners in ascending order.
  std::map<std::array<int, 12>, int> ids;  // weights of all twelve corners: one id per point in space
  const auto node = [&](const Vec3i& face, const std::array<int, 3>& p) {
    const int weights[3] = {p[0] - p[1], p[1] - p[2], p[2]};
    std::array<int, 12> key{};
    for (int c = 0; c < 3; ++c) key[face[c]] = weights[c];
    const auto [entry, added] = ids.try_emplace(key, static_cast<int>(mesh.nodes.size()));
    if (added) {
      const double s = p[0];
      const Vec3d direction =
          s > 0 ? on_sphere(ico.corners[face[0]], ico.corners[face[1]], ico.corners[face[2]], weights[0] / s,
                            weights[1] / s, weights[2] / s)
                : Vec3d::zero();
      mesh.nodes.push_back((radius * s / n) * direction);
    }
    return entry->second;
  };
  static constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const auto inside = [&](const std::array<int, 3>& p) {
    return p[0] <= n && p[0] >= p[1] && p[1] >= p[2] && p[2] >= 0;
  };
  for (const Vec3i& face : ico.faces)
    for (int s = 0; s < n; ++s)
      for (int i = 0; i <= s; ++i)
        for (int j = 0; j <= i; ++j)
          for (const auto& order : orders) {
            std::array<int, 3> p{s, i, j};
            std::array<std::array<int, 3>, 4> corners{p};
            for (int c = 0; c < 3; ++c) {
              ++p[order[c]];
              corners[c + 1] = p;
            }
            if (!std::all_of(corners.begin(), corners.end(), inside)) continue;
            Vec4i tet{};
            for (int c = 0; c < 4; ++c) tet[c] = node(face, corners[c]);
            mesh.tets.push_back(tet);
          }
  return oriented(std::move(mesh));
}

SurfaceMesh make_plane(double size_x, double size_z, double edge) {
  check_length("size", size_x);
  check_length("size", size_z);
  check_length("edge", edge);
  check_count(2 * along(size_x, edge) * along(size_z, edge));
  const int nx = cells(size_x, edge), nz = cells(size_z, edge);
  SurfaceMesh mesh;
  for (int z = 0; z <= nz; ++z)
    for (int x = 0; x <= nx; ++x)
      mesh.nodes.push_back({size_x * (double(x) / nx - 0.5), 0, size_z * (double(z) / nz - 0.5)});
  for (int z = 0; z < nz; ++z)
    for (int x = 0; x < nx; ++x) {
      const int a = x + (nx + 1) * z, b = a + 1, c = a + nx + 1, d = c + 1;
      mesh.triangles.push_back({a, c, d});
      mesh.triangles.push_back({a, d, b});
    }
  return mesh;
}

SurfaceMesh make_ramp(double length, double height, double width) {
  check_length("length", length);
  check_length("height", height);
  check_length("width", width);
  const double x = length / 2, z = width / 2;
  return {{{-x, 0, -z}, {x, 0, -z}, {-x, height, -z}, {-x, 0, z}, {x, 0, z}, {-x, height, z}},
          {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3}, {0, 3, 5}, {0, 5, 2}, {1, 2, 5}, {1, 5, 4}}};
}

}  // namespace stickslip
