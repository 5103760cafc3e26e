#include "gpu/model/convex_hull.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "gpu/model/exact_orientation.h"
#include "gpu/model/mass_properties.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

std::vector<Vec3d> random_points(int count, unsigned seed, bool on_sphere) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    const Vec3d p{normal(random), normal(random), normal(random)};
    points.push_back(on_sphere ? normalized(p) : p);
  }
  return points;
}

/// Triples with all other points on one side, by exhaustive search.
std::set<std::set<int>> brute_force_faces(const std::vector<Vec3d>& points) {
  std::set<std::set<int>> faces;
  const int n = static_cast<int>(points.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      for (int k = 0; k < j; ++k) {
        const Vec3d normal = cross(points[j] - points[i], points[k] - points[i]);
        int above = 0, below = 0;
        for (int p = 0; p < n; ++p) {
          const double h = dot(normal, points[p] - points[i]);
          above += p != i && p != j && p != k && h > 0;
          below += p != i && p != j && p != k && h < 0;
        }
        if (above == 0 || below == 0) faces.insert({i, j, k});
      }
  return faces;
}

int index_of(const std::vector<Vec3d>& points, const Vec3d& p) {
  return static_cast<int>(std::find(points.begin(), points.end(), p) - points.begin());
}

std::string error_of_hull(const std::vector<Vec3d>& points) {
  try {
    convex_hull(points);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ConvexHull, OfRandomPointsIsThatOfBruteForce) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const std::vector<Vec3d> points = random_points(6 + 3 * static_cast<int>(seed), seed, seed % 2 == 0);
    const ConvexHull hull = convex_hull(points);
    EXPECT_EQ(hull_fault(hull), "") << seed;
    std::set<std::set<int>> faces;
    for (const Vec3i& t : triangles_of(hull))
      faces.insert({index_of(points, hull.vertices[t[0]]), index_of(points, hull.vertices[t[1]]),
                    index_of(points, hull.vertices[t[2]])});
    EXPECT_EQ(faces, brute_force_faces(points)) << seed;
  }
}

/// Fibonacci spiral: points spread evenly over the unit sphere.
std::vector<Vec3d> even_points(int count) {
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    const double y = 1 - (2 * i + 1.0) / count, r = std::sqrt(1 - y * y);
    const double angle = i * M_PI * (3 - std::sqrt(5.0));
    points.push_back({r * std::cos(angle), y, r * std::sin(angle)});
  }
  return points;
}

void expect_hull_around(const std::vector<Vec3d>& points, double tolerance) {
  const ConvexHull hull = convex_hull(points);
  EXPECT_EQ(hull_fault(hull), "");
  for (const Vec3i& t : triangles_of(hull)) {
    const Vec3d& a = hull.vertices[t[0]];
    const Vec3d normal = normalized(cross(hull.vertices[t[1]] - a, hull.vertices[t[2]] - a));
    for (std::size_t i = 0; i < points.size(); i += 97) EXPECT_LT(dot(normal, points[i] - a), tolerance);
  }
}

TEST(ConvexHull, OfManyPointsOfASphereIsConvex) {
  expect_hull_around(random_points(20000, 7, true), 2e-5);
  expect_hull_around(even_points(3000), 2e-5);
  // As read from a file in single precision.
  std::vector<Vec3d> rounded = random_points(3000, 8, true);
  for (Vec3d& p : rounded) p = (0.001 * p).cast<float>().cast<double>();
  expect_hull_around(rounded, 2e-8);
}

TEST(ConvexHull, OfANearlyFlatCapIsConvex) {
  const std::vector<Vec3d> points = random_points(3000, 9, true);
  for (const double flatness : {1e-2, 1e-4}) {
    std::vector<Vec3d> flat = points;
    for (Vec3d& p : flat) p[1] *= flatness;
    expect_hull_around(flat, 2e-5);
  }
}

TEST(ExactOrientation, IsExactWhereRoundingIsNot) {
  const Vec3d a{0.1, 0.2, 0.3}, b{1.1, 0.2, 0.3}, c{0.1, 1.2, 0.3};
  EXPECT_EQ(orientation(a, b, c, {7, 9, 0.3}), 0);
  EXPECT_EQ(orientation(a, b, c, {7, 9, std::nextafter(0.3, 1)}), 1);
  EXPECT_EQ(orientation(a, b, c, {7, 9, std::nextafter(0.3, 0)}), -1);
  // Points x + y + z = 1 of a lattice that doubles represent exactly, one of them moved by the smallest
  // amount.
  std::mt19937 random(4);
  std::uniform_int_distribution<int> whole(-(1 << 20), 1 << 20);
  const auto in_plane = [&] {
    const double x = whole(random) * 0x1p-20, y = whole(random) * 0x1p-20;
    return Vec3d{x, y, 1 - x - y};
  };
  for (int i = 0; i < 1000; ++i) {
    const Vec3d p = in_plane(), q = in_plane(), r = in_plane();
    const int side = cross(q - p, r - p)[2] > 0 ? 1 : -1;
    if (norm(cross(q - p, r - p)) == 0) continue;
    Vec3d s = in_plane();
    EXPECT_EQ(orientation(p, q, r, s), 0);
    s[2] = std::nextafter(s[2], 10);
    EXPECT_EQ(orientation(p, q, r, s), side);
    EXPECT_EQ(orientation(q, p, r, s), -side);
  }
}

TEST(ConvexHull, FacesInOnePlaneBecomeOnePolygonWithoutPointsOnItsSides) {
  // A cube's corners, the centres of its edges and faces, and inner points, all rotated and far from the
  // origin, with single-precision noise.
  for (const double noise : {0.0, 1e-8}) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> jitter(-noise, noise);
    std::vector<Vec3d> points;
    const Pose pose{{3, -2, 5}, rotation_by(Vec3d{0.4, 1.1, -0.3})};
    for (int x = 0; x <= 4; ++x)
      for (int y = 0; y <= 4; ++y)
        for (int z = 0; z <= 4; ++z)
          points.push_back(pose.apply({x / 4.0, y / 4.0, z / 4.0}) +
                           Vec3d{jitter(random), jitter(random), jitter(random)});
    const ConvexHull hull = convex_hull(points);
    EXPECT_EQ(hull_fault(hull), "");
    EXPECT_EQ(hull.vertices.size(), 8u);
    ASSERT_EQ(hull.face_start.size(), 7u);
    for (int f = 0; f < 6; ++f) EXPECT_EQ(hull.face_start[f + 1] - hull.face_start[f], 4);
    EXPECT_NEAR(mass_of_surface(hull.vertices, triangles_of(hull)).volume, 1, 1e-6);
  }
}

TEST(ConvexHull, ManyPointsOnASphere) {
  const std::vector<Vec3d> points = random_points(1500, 5, true);
  const ConvexHull hull = convex_hull(points);
  EXPECT_EQ(hull_fault(hull), "");
  EXPECT_GE(hull.vertices.size(), 1490u);
}

TEST(ConvexHull, DegenerateInputIsRefused) {
  EXPECT_NE(error_of_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}).find("four points"), std::string::npos);
  EXPECT_NE(error_of_hull(std::vector<Vec3d>(9, Vec3d{1, 2, 3})).find("are one"), std::string::npos);
  EXPECT_NE(error_of_hull({{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {5, 5, 0}}).find("on a line"), std::string::npos);
  EXPECT_NE(error_of_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {3, 2, 1e-8}}).find("in a plane"),
            std::string::npos);
  EXPECT_NE(error_of_hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, std::nan("")}}).find("finite"),
            std::string::npos);
}

TEST(ConvexHull, FaultsAreFound) {
  const ConvexHull good = convex_hull(random_points(30, 2, true));
  ConvexHull dented = good;
  dented.vertices[3] = 0.3 * dented.vertices[3];
  EXPECT_NE(hull_fault(dented).find("not convex"), std::string::npos);
  ConvexHull open = good;
  open.face_vertices.resize(open.face_start[open.face_start.size() - 2]);
  open.face_start.pop_back();
  EXPECT_NE(hull_fault(open).find("not closed"), std::string::npos);
  ConvexHull inside_out = good;
  for (std::size_t f = 0; f + 1 < good.face_start.size(); ++f)
    std::reverse(inside_out.face_vertices.begin() + good.face_start[f],
                 inside_out.face_vertices.begin() + good.face_start[f + 1]);
  EXPECT_NE(hull_fault(inside_out), "");
  ConvexHull lost = good;
  lost.face_vertices[4] = 77;
  EXPECT_NE(hull_fault(lost).find("not there"), std::string::npos);
}

}  // namespace
}  // namespace stickslip
