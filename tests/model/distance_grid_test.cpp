#include "gpu/model/distance_grid.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numbers>

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
