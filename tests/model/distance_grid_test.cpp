#include "gpu/model/distance_grid.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numbers>

#include "gpu/geometry/distance_grid.h"
#include "tests/geometry/random_points.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using std::numbers::pi;

struct Surface {
  std::vector<Vec3d> nodes;
  std::vector<Vec3i> triangles;
};

/// A torus around y: not convex, with a hole.
Surface torus(double radius, double tube, int around, int across) {
  Surface s;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const double a = 2 * pi * i / around, b = 2 * pi * j / across, r = radius + tube * std::cos(b);
      s.nodes.push_back({r * std::cos(a), tube * std::sin(b), r * std::sin(a)});
      const int i1 = (i + 1) % around, j1 = (j + 1) % across;
      const int p = i * across + j, q = i1 * across + j, u = i * across + j1, v = i1 * across + j1;
      s.triangles.push_back({p, u, v});
      s.triangles.push_back({p, v, q});
    }
  return s;
}

/// An L of two boxes with a sharp inner edge: signs by plain normals are wrong there.
Surface bracket() {
  const double outline[6][2] = {{0, 0}, {2, 0}, {2, 0.5}, {0.5, 0.5}, {0.5, 2}, {0, 2}};
  Surface s;
  for (const double z : {0.0, 1.0})
    for (const auto& p : outline) s.nodes.push_back({p[0], p[1], z});
  for (const auto& t : {Vec3i{0, 1, 2}, Vec3i{0, 2, 3}, Vec3i{0, 3, 4}, Vec3i{0, 4, 5}}) {
    s.triangles.push_back({t[0], t[2], t[1]});
    s.triangles.push_back(t + Vec3i::filled(6));
  }
  for (int i = 0; i < 6; ++i) {
    const int j = (i + 1) % 6;
    s.triangles.push_back({i, j, j + 6});
    s.triangles.push_back({i, j + 6, i + 6});
  }
  return s;
}

/// Distance to a triangle: to the plane if the foot is inside, else to the sides. No regions.
double distance_to_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const auto to_segment = [&](const Vec3d& s, const Vec3d& e) {
    const double t = std::clamp(dot(p - s, e - s) / norm2(e - s), 0.0, 1.0);
    return norm(p - s - t * (e - s));
  };
  const Vec3d n = normalized(cross(b - a, c - a));
  const bool inside = dot(cross(b - a, p - a), n) >= 0 && dot(cross(c - b, p - b), n) >= 0 &&
                      dot(cross(a - c, p - c), n) >= 0;
  return inside ? std::abs(dot(n, p - a)) : std::min({to_segment(a, b), to_segment(b, c), to_segment(c, a)});
}

/// Solid angles: 1 inside, 0 outside [VanOosterom83].
double winding(const Surface& s, const Vec3d& p) {
  double sum = 0;
  for (const Vec3i& t : s.triangles) {
    const Vec3d a = s.nodes[t[0]] - p, b = s.nodes[t[1]] - p, c = s.nodes[t[2]] - p;
    sum += 2 * std::atan2(dot(a, cross(b, c)), norm(a) * norm(b) * norm(c) + dot(a, b) * norm(c) +
                                                   dot(b, c) * norm(a) + dot(c, a) * norm(b));
  }
  return sum / (4 * pi);
}

void expect_brute_force(const Surface& s, int cells) {
  const ShapeMesh mesh = mesh_with_distance(s.nodes, s.triangles, cells);
  const auto& n = mesh.grid_nodes;
  ASSERT_EQ(mesh.distance.size(), static_cast<std::size_t>(n[0]) * n[1] * n[2]);
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) {
        const Vec3d p = mesh.grid_origin + mesh.grid_spacing * Vec3d{double(i), double(j), double(k)};
        double distance = 1e300;
        for (const Vec3i& t : s.triangles)
          distance = std::min(distance, distance_to_triangle(p, s.nodes[t[0]], s.nodes[t[1]], s.nodes[t[2]]));
        const float found = mesh.distance[i + n[0] * (j + std::size_t(n[1]) * k)];
        ASSERT_NEAR(std::abs(found), distance, 1e-6) << i << " " << j << " " << k;
        if (distance > 1e-9) {
          ASSERT_EQ(found<0, winding(s, p)> 0.5) << i << " " << j << " " << k;
        }
      }
}

TEST(DistanceGrid, IsThatOfBruteForce) {
  expect_brute_force(torus(1, 0.4, 16, 9), 12);
  expect_brute_force(bracket(), 13);
}

TEST(DistanceGrid, CoversTheMeshWithTwoCellsAround) {
  const ShapeMesh mesh = mesh_with_distance(bracket().nodes, bracket().triangles, 16);
  EXPECT_DOUBLE_EQ(mesh.grid_spacing, 2.0 / 16);
  for (int c = 0; c < 3; ++c) {
    EXPECT_LE(mesh.grid_origin[c], -2 * mesh.grid_spacing + 1e-12);
    EXPECT_GE(mesh.grid_origin[c] + mesh.grid_spacing * (mesh.grid_nodes[c] - 1),
              (c == 2 ? 1 : 2) + 2 * mesh.grid_spacing - 1e-12);
  }
}

TEST(DistanceGrid, FiveThousandTrianglesTakeLessThanASecond) {
  const Surface s = torus(1, 0.4, 60, 42);
  ASSERT_GE(s.triangles.size(), 5000u);
  const auto start = std::chrono::steady_clock::now();
  mesh_with_distance(s.nodes, s.triangles, 48);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(seconds));
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(seconds, 2) << "half of that on a machine of its own";
#endif
}

double signed_distance(const Surface& s, const Vec3d& p) {
  double distance = 1e300;
  for (const Vec3i& t : s.triangles)
    distance = std::min(distance, distance_to_triangle(p, s.nodes[t[0]], s.nodes[t[1]], s.nodes[t[2]]));
  return winding(s, p) > 0.5 ? -distance : distance;
}

/// Sides of the leaf at p, in smallest cells: a walk of the test's own.
int leaf_size(const ShapeMesh& mesh, const Vec3d& p) {
  int cell[3], size = 1 << mesh.levels, roots[3];
  for (int a = 0; a < 3; ++a) {
    cell[a] = static_cast<int>(std::floor((p[a] - mesh.grid_origin[a]) / mesh.grid_spacing));
    roots[a] = (mesh.grid_nodes[a] - 1) / size;
  }
  std::int32_t at =
      mesh.tree[cell[0] / size + roots[0] * (cell[1] / size + std::size_t(roots[1]) * (cell[2] / size))];
  for (; at >= 0;
       at = mesh.tree[at + (cell[0] / size % 2) + 2 * (cell[1] / size % 2) + 4 * (cell[2] / size % 2)])
    size /= 2;
  return size;
}

Vec3d random_place(testing::Random& random, const ShapeMesh& mesh) {
  Vec3d p{};
  for (int a = 0; a < 3; ++a)
    p[a] = mesh.grid_origin[a] + mesh.grid_spacing * random.uniform(0, mesh.grid_nodes[a] - 1);
  return p;
}

/// In the units of the surface.
struct FieldError {
  double most = 0, most_near = 0;  // near: within half a small cell of the surface
};

/// Errors at random points, compared with brute force; an adaptive field keeps its tolerance in its large
/// cells.
FieldError sweep(const Surface& s, const ShapeMesh& mesh, double tolerance, int count,
                 testing::Random& random) {
  FieldError error;
  for (int n = 0; n < count; ++n) {
    Vec3d p = random_place(random, mesh);
    if (n % 2 == 0) {  // near the surface
      const Vec3i& t =
          s.triangles[static_cast<std::size_t>(random.index(static_cast<int>(s.triangles.size())))];
      const double u = random.uniform(0, 1), v = random.uniform(0, 1 - u);
      p = s.nodes[t[0]] + u * (s.nodes[t[1]] - s.nodes[t[0]]) + v * (s.nodes[t[2]] - s.nodes[t[0]]) +
          mesh.grid_spacing * random.point(-1, 1);
    }
    const double exact = signed_distance(s, p),
                 off = std::abs(field_distance(field_view(mesh), p).distance - exact);
    error.most = std::max(error.most, off);
    if (std::abs(exact) < mesh.grid_spacing / 2) error.most_near = std::max(error.most_near, off);
    if (!mesh.tree.empty() && leaf_size(mesh, p) > 1) {
      EXPECT_LT(off, 3 * (tolerance + std::abs(exact) / 10)) << p[0] << " " << p[1] << " " << p[2];
    }
  }
  return error;
}

std::size_t bytes(const ShapeMesh& mesh) { return 4 * (mesh.distance.size() + mesh.tree.size()); }

TEST(AdaptiveDistance, KeepsItsToleranceWithAFractionOfTheMemory) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const auto compare = [&](const char* name, const Surface& s, int cells, double tolerance,
                           double least_saving) {
    SCOPED_TRACE(name);
    const ShapeMesh regular = mesh_with_distance(s.nodes, s.triangles, cells);
    const ShapeMesh adaptive = mesh_with_distance(s.nodes, s.triangles, cells, tolerance);
    EXPECT_EQ(field_fault(adaptive), "");
    EXPECT_EQ(adaptive.grid_spacing, regular.grid_spacing);
    const FieldError of_regular = sweep(s, regular, 0, 1500, random);
    const FieldError of_adaptive = sweep(s, adaptive, tolerance, 1500, random);
    // Corners on the sides of larger cells add what these may be off.
    EXPECT_LT(of_adaptive.most_near, of_regular.most_near + 2 * (tolerance + regular.grid_spacing / 20));
    const double saving = double(bytes(regular)) / double(bytes(adaptive));
    EXPECT_GT(saving, least_saving);
    RecordProperty(std::string(name) + std::to_string(cells),
                   "error " + std::to_string(of_regular.most_near) + " and " +
                       std::to_string(of_adaptive.most_near) + ", memory saved " + std::to_string(saving));
  };
  compare("torus", torus(1, 0.4, 32, 18), 64, 1e-2, 1.5);
  compare("torus", torus(1, 0.4, 32, 18), 128, 2e-3, 2);
  compare("bracket", bracket(), 64, 2e-3, 1.2);
  compare("bracket", bracket(), 128, 2e-3, 4);
}

TEST(AdaptiveDistance, GrowsWithTheSurfaceNotWithTheVolume) {
  const Surface s = bracket();
  const std::size_t coarse = bytes(mesh_with_distance(s.nodes, s.triangles, 64, 1e-3));
  const std::size_t fine = bytes(mesh_with_distance(s.nodes, s.triangles, 128, 1e-3));
  EXPECT_LT(fine, 4 * coarse);
}

TEST(AdaptiveDistance, IsContinuousAcrossLevels) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (const Surface& s : {torus(1, 0.4, 16, 9), bracket()}) {
    const ShapeMesh mesh = mesh_with_distance(s.nodes, s.triangles, 40, 0.01);
    const DistanceGridView field = field_view(mesh);
    int across = 0;
    for (int n = 0; n < 100000; ++n) {
      // On a side, an edge or a corner of small cells.
      Vec3d p = random_place(random, mesh), q = p;
      const int sides = 1 + random.index(3), first = random.index(3);
      const double off = 1e-9;
      for (int i = 0; i < sides; ++i) {
        const int a = (first + i) % 3;
        const double place =
            mesh.grid_origin[a] + mesh.grid_spacing * (1 + random.index(mesh.grid_nodes[a] - 2));
        p[a] = place - off;
        q[a] = place + (random.index(2) == 0 ? off : -off);
      }
      across += leaf_size(mesh, p) != leaf_size(mesh, q);
      ASSERT_NEAR(field_distance(field, p).distance, field_distance(field, q).distance, 1e-6);
    }
    EXPECT_GT(across, 2000);
  }
}

TEST(AdaptiveDistance, ItsNormalIsTheGradientWithinCells) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Surface s = torus(1, 0.4, 16, 9);
  for (const double tolerance : {0.0, 0.01}) {
    const ShapeMesh mesh = mesh_with_distance(s.nodes, s.triangles, 32, tolerance);
    const DistanceGridView field = field_view(mesh);
    int checked = 0;
    for (int n = 0; n < 5000; ++n) {
      const Vec3d p = random_place(random, mesh);
      const double h = 1e-4 * mesh.grid_spacing;
      bool inside = true;  // the cell that has p
      Vec3d slope{};
      for (int a = 0; a < 3; ++a) {
        const double place = (p[a] - mesh.grid_origin[a]) / mesh.grid_spacing;
        inside = inside && std::abs(place - std::round(place)) > 1e-3;
        Vec3d step{};
        step[a] = h;
        slope[a] =
            (field_distance(field, p + step).distance - field_distance(field, p - step).distance) / (2 * h);
      }
      if (!inside || norm(slope) < 0.1) continue;
      ++checked;
      EXPECT_LT(norm(field_distance(field, p).normal - normalized(slope)), 1e-6);
    }
    EXPECT_GT(checked, 4000);
  }
}

TEST(AdaptiveDistance, FaultsOfTreesAreFound) {
  const ShapeMesh good = mesh_with_distance(bracket().nodes, bracket().triangles, 16, 0.01);
  ASSERT_EQ(field_fault(good), "");
  ASSERT_GE(good.tree[0], 0);
  const auto fault = [&](auto&& change) {
    ShapeMesh bad = good;
    change(bad);
    return field_fault(bad);
  };
  EXPECT_NE(fault([](ShapeMesh& m) { m.distance.pop_back(); }), "");
  EXPECT_NE(fault([](ShapeMesh& m) { m.distance[3] = std::nanf(""); }), "");
  EXPECT_NE(fault([](ShapeMesh& m) { m.tree[0] = 0; }), "") << "a cell that is its own child";
  EXPECT_NE(fault([](ShapeMesh& m) { m.tree.pop_back(); }), "");
  EXPECT_NE(fault([](ShapeMesh& m) { m.tree.back() = std::numeric_limits<std::int32_t>::min(); }), "");
  EXPECT_NE(fault([](ShapeMesh& m) { m.tree.back() = 1 << 30; }), "");
  EXPECT_NE(fault([](ShapeMesh& m) { m.levels -= 1; }), "");
  EXPECT_NE(fault([](ShapeMesh& m) { m.grid_nodes[0] += 1; }), "");
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(mesh_with_distance(bracket().nodes, bracket().triangles, 16, bad), std::invalid_argument);
}

TEST(DistanceGrid, FaultsOfSurfacesAreFound) {
  Surface s = bracket();
  EXPECT_EQ(surface_fault(s.nodes, s.triangles), "");
  const auto fault = [&](auto&& change) {
    Surface bad = s;
    change(bad);
    return surface_fault(bad.nodes, bad.triangles);
  };
  EXPECT_NE(fault([](Surface& b) { b.triangles.pop_back(); }).find("free side"), std::string::npos);
  EXPECT_NE(fault([](Surface& b) { std::swap(b.triangles[4][0], b.triangles[4][1]); }).find("one sense"),
            std::string::npos);
  EXPECT_NE(fault([](Surface& b) {
              for (Vec3i& t : b.triangles) std::swap(t[0], t[1]);
            }).find("inside out"),
            std::string::npos);
  EXPECT_NE(fault([](Surface& b) { b.nodes[1] = b.nodes[0]; }).find("no area"), std::string::npos);
  EXPECT_NE(fault([](Surface& b) { b.triangles[0][0] = 40; }).find("not there"), std::string::npos);
  EXPECT_THROW(mesh_with_distance(s.nodes, s.triangles, 2), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
