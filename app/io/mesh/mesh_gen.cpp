#include "app/io/mesh/mesh_gen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "app/io/mesh/mesh_gen_cells.h"
#include "app/io/mesh/mesh_gen_checks.h"
#include "app/io/mesh/mesh_gen_refine.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using std::numbers::pi;

/// A triangulated disc, the cross-section of cylinder and torus: node 0 in the middle, 6k nodes in ring k.
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

/// Position on the unit sphere of a point with weights (a, b, c) on a face. Slerp from corner to edge point
/// gives the triangles of one shell similar sizes.
Vec3d slerp(const Vec3d& p, const Vec3d& q, double s) {
  const double angle = std::acos(std::clamp(dot(p, q), -1.0, 1.0));
  if (angle < 1e-12) return p;
  return (std::sin((1 - s) * angle) * p + std::sin(s * angle) * q) / std::sin(angle);
}

Vec3d on_sphere(const Vec3d& a, const Vec3d& b, const Vec3d& c, double wa, double wb, double wc) {
  // Averaged over the three corners: then the two faces at an edge agree on it, and the result is symmetric.
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
  return box_cells({even_cuts(size[0], n[0]), even_cuts(size[1], n[1]), even_cuts(size[2], n[2])},
                   [](int, int, int) { return true; });
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
  mesh.tets = cut_prisms(disc.triangles, static_cast<int>(disc.nodes.size()), layers, false);
  return oriented(std::move(mesh));
}

TetMesh make_tube(double radius, double thickness, double height, double edge) {
  check_length("radius", radius);
  check_length("thickness", thickness);
  check_length("height", height);
  check_length("edge", edge);
  if (thickness > (1 - 1e-6) * radius)
    throw std::invalid_argument("thickness must be smaller than the radius");
  check_count(6 * along(2 * pi * radius, edge) * along(thickness, edge) * along(height, edge));
  const int around = std::max(8, cells(2 * pi * radius, edge)), across = cells(thickness, edge);
  const int layers = cells(height, edge);
  const auto node = [&](int ring, int i) { return ring * around + i % around; };
  std::vector<Vec3i> section;
  for (int ring = 0; ring < across; ++ring)
    for (int i = 0; i < around; ++i) {
      // Diagonals alternate, so that neither sense of twist is preferred.
      const int a = node(ring, i), b = node(ring, i + 1), c = node(ring + 1, i), d = node(ring + 1, i + 1);
      const bool even = (ring + i) % 2 == 0;
      section.push_back({a, b, even ? d : c});
      section.push_back({even ? a : b, d, c});
    }
  TetMesh mesh;
  for (int layer = 0; layer <= layers; ++layer)
    for (int ring = 0; ring <= across; ++ring)
      for (int i = 0; i < around; ++i) {
        const double angle = 2 * pi * i / around, r = radius - thickness * (1 - double(ring) / across);
        mesh.nodes.push_back(
            {r * std::cos(angle), height * (double(layer) / layers - 0.5), r * std::sin(angle)});
      }
  mesh.tets = cut_prisms(section, (across + 1) * around, layers, false);
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
  mesh.tets = cut_prisms(disc.triangles, static_cast<int>(disc.nodes.size()), segments, true);
  return oriented(std::move(mesh));
}

TetMesh make_sphere(double radius, double edge) {
  check_length("radius", radius);
  check_length("edge", edge);
  check_count(20 * std::pow(along(radius, edge), 3));
  // Each face of an icosahedron forms a tet with the centre; its lattice points lie on n shells.
  const int n = cells(radius, edge);
  const Icosahedron ico = make_icosahedron();
  std::vector<Vec4i> tets;  // corner 0 is the centre
  for (const Vec3i& face : ico.faces) tets.push_back({0, face[0] + 1, face[1] + 1, face[2] + 1});
  return refined(tets, n, [&](const Vec4i& tet, const std::array<int, 4>& weights) {
    const double s = n - weights[0];
    if (s == 0) return Vec3d::zero();
    return (radius * s / n) * on_sphere(ico.corners[tet[1] - 1], ico.corners[tet[2] - 1],
                                        ico.corners[tet[3] - 1], weights[1] / s, weights[2] / s,
                                        weights[3] / s);
  });
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

SurfaceMesh make_sheet(double size_x, double size_z, double edge) {
  check_length("size", size_x);
  check_length("size", size_z);
  check_length("edge", edge);
  const double height = edge * std::sqrt(0.75);  // between rows
  check_count(2 * along(size_x, edge) * along(size_z, height));
  const int nx = cells(size_x, edge), nz = cells(size_z, height);
  SurfaceMesh mesh;
  std::vector<int> first;  // node of each row
  for (int z = 0; z <= nz; ++z) {
    first.push_back(static_cast<int>(mesh.nodes.size()));
    const bool shifted = z % 2 == 1;  // with half an edge at both ends
    for (int x = 0; x <= nx + (shifted ? 1 : 0); ++x) {
      const double at = shifted ? std::clamp(x - 0.5, 0.0, double(nx)) : x;
      mesh.nodes.push_back({size_x * (at / nx - 0.5), 0, size_z * (double(z) / nz - 0.5)});
    }
  }
  for (int z = 0; z < nz; ++z) {
    const bool shifted = z % 2 == 1;
    const int low = first[z], high = first[z + 1];
    // Triangles with an edge on the row that is not shifted, and those with one on the other row.
    for (int x = 0; x < nx; ++x) {
      if (shifted) mesh.triangles.push_back({high + x, high + x + 1, low + x + 1});
      else mesh.triangles.push_back({low + x, high + x + 1, low + x + 1});
    }
    for (int x = 0; x <= nx; ++x) {
      if (shifted) mesh.triangles.push_back({low + x, high + x, low + x + 1});
      else mesh.triangles.push_back({low + x, high + x, high + x + 1});
    }
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
