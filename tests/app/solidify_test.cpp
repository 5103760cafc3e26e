// Closed surfaces filled with tets, by the lattice and by tetgen.
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "app/io/mesh/mesh_check.h"
#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/solidify.h"
#include "app/io/mesh/surface_parse.h"
#include "app/process/child_process.h"
#include "gpu/geometry/distance.h"
#include "gpu/model/rotation.h"
#include "mesh_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

SurfaceMesh turned(SurfaceMesh mesh) {
  for (Vec3d& p : mesh.nodes) p = rotation_matrix_degrees(Vec3d{31, 47, -20}) * p + Vec3d{3, -2, 5};
  return mesh;
}

/// A sphere with a cavity: the inner surface is oriented inwards.
SurfaceMesh hollow_sphere() {
  SurfaceMesh mesh = boundary_surface(make_sphere(1, 0.2));
  const SurfaceMesh hollow = boundary_surface(make_sphere(0.5, 0.1));
  const auto first = static_cast<std::int32_t>(mesh.nodes.size());
  mesh.nodes.insert(mesh.nodes.end(), hollow.nodes.begin(), hollow.nodes.end());
  for (const Vec3i& t : hollow.triangles)
    mesh.triangles.push_back({t[0] + first, t[2] + first, t[1] + first});
  return mesh;
}

double smallest_dihedral_degrees(const TetMesh& mesh) {
  double least = 180;
  static constexpr int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                      {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
  for (const Vec4i& t : mesh.tets)
    for (const auto& e : edges) {
      const Vec3d &a = mesh.nodes[t[e[0]]], &b = mesh.nodes[t[e[1]]];
      const Vec3d n = cross(b - a, mesh.nodes[t[e[2]]] - a), m = cross(b - a, mesh.nodes[t[e[3]]] - a);
      least = std::min(least, std::atan2(norm(cross(n, m)), dot(n, m)) * 180 / std::numbers::pi);
    }
  return least;
}

double distance(const Vec3d& p, const SurfaceMesh& to) {
  double least2 = 1e300;
  for (const Vec3i& t : to.triangles)
    least2 = std::min(least2, point_triangle_d2(p, to.nodes[t[0]], to.nodes[t[1]], to.nodes[t[2]]));
  return std::sqrt(least2);
}

/// All tets positive, no node unused, and a closed boundary; returns the volume.
double check_solid(const TetMesh& mesh) {
  double volume = 0;
  for (const Vec4i& t : mesh.tets) {
    const double v = signed_volume(mesh.nodes, t);
    EXPECT_GT(v, 0);
    volume += v;
  }
  TetMesh copy = mesh;
  EXPECT_TRUE(drop_unused(copy).empty());
  // Closed: the vector areas of the boundary sum to zero, and it encloses the tets' volume.
  const SurfaceMesh boundary = boundary_surface(mesh);
  Vec3d area{0, 0, 0};
  for (const Vec3i& t : boundary.triangles)
    area += cross(boundary.nodes[t[1]] - boundary.nodes[t[0]], boundary.nodes[t[2]] - boundary.nodes[t[0]]);
  EXPECT_LT(norm(area), 1e-12 * std::pow(volume, 2.0 / 3) * static_cast<double>(boundary.triangles.size()));
  EXPECT_NEAR(enclosed_volume(boundary), volume, 1e-10 * volume);
  return volume;
}

struct ClosedShape {
  const char* name;
  SurfaceMesh surface;
  double edge;
  double volume_tolerance;  // relative: corners and details below the edge are lost
  double distance;          // of the surface to the new boundary, in edges
};

std::vector<ClosedShape> shapes() {
  return {{"sphere", boundary_surface(make_sphere(1, 0.1)), 0.15, 0.02, 0.3},
          {"torus", turned(boundary_surface(make_torus(1, 0.3, 0.1))), 0.1, 0.03, 0.3},
          {"box along the axes", boundary_surface(make_box({1, 1, 1}, 1)), 0.125, 0.03, 0.8},
          {"turned box", turned(boundary_surface(make_box({1, 2, 1}, 1))), 0.1, 0.02, 0.8},
          {"hollow sphere", hollow_sphere(), 0.1, 0.03, 0.3}};
}

TEST(FillByLattice, TetsAreWellShapedAndFollowTheSurface) {
  for (const ClosedShape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const SurfaceMesh surface = checked_closed(shape.surface, shape.name);
    const TetMesh mesh = fill_by_lattice(surface, shape.edge, shape.name);
    const double expected = enclosed_volume(surface);
    EXPECT_NEAR(check_solid(mesh), expected, shape.volume_tolerance * expected);
    EXPECT_GT(smallest_dihedral_degrees(mesh), 11);  // the bound proven for smooth surfaces is 10.7
    const SurfaceMesh boundary = boundary_surface(mesh);
    double there = 0, back = 0;
    for (std::size_t i = 0; i < boundary.nodes.size(); i += 7)
      there = std::max(there, distance(boundary.nodes[i], surface));
    EXPECT_LT(there, 1e-7 * shape.edge);
    for (std::size_t i = 0; i < surface.nodes.size(); i += 23)
      back = std::max(back, distance(surface.nodes[i], boundary));
    EXPECT_LT(back, shape.distance * shape.edge);
  }
}

TEST(FillByLattice, RefinesTowardsTheVolume) {
  const SurfaceMesh surface = turned(boundary_surface(make_box({1, 1, 1}, 1)));
  double last = 1;
  for (const double edge : {0.2, 0.1, 0.05}) {
    const double missing = std::abs(1 - check_solid(fill_by_lattice(surface, edge, "box")));
    EXPECT_LT(missing, 0.5 * last);
    last = missing;
  }
}

TEST(FillByLattice, SizesThatCannotBeAreRefused) {
  const SurfaceMesh box = boundary_surface(make_box({1, 1, 1}, 1));
  expect_parts(refusal_of([&] { fill_by_lattice(box, 1e-3, "a.obj"); }), {"a.obj", "too short", "tets"});
  expect_parts(refusal_of([&] { fill_by_lattice(box, 1e-9, "a.obj"); }), {"edge = 1e-09 m", "about 1.2"});
  const SurfaceMesh plate = boundary_surface(make_box({1, 1e-3, 1}, 1));
  expect_parts(refusal_of([&] { fill_by_lattice(plate, 0.2, "a.obj"); }), {"a.obj", "shorter edge"});
}

TEST(Closed, OpenAndTwistedSurfacesNameAnEdge) {
  SurfaceMesh open = boundary_surface(make_box({1, 1, 1}, 1));
  open.triangles.pop_back();
  expect_parts(refusal_of([&] { checked_closed(open, "a.obj"); }),
               {"a.obj", "edge from (", "1 triangle:", "closed"});
  SurfaceMesh twisted = boundary_surface(make_box({1, 1, 1}, 1));
  std::swap(twisted.triangles[3][0], twisted.triangles[3][1]);
  expect_parts(refusal_of([&] { checked_closed(twisted, "a.obj"); }), {"a.obj", "same direction"});
}

TEST(Closed, SeamsAreWeldedAndTheInsideTurnedIn) {
  SurfaceMesh soup;
  const SurfaceMesh box = boundary_surface(make_box({1, 2, 3}, 1));
  for (const Vec3i& t : box.triangles) {
    const auto n = static_cast<std::int32_t>(soup.nodes.size());
    for (const int c : {0, 2, 1}) soup.nodes.push_back(box.nodes[t[c]]);
    soup.triangles.push_back({n, n + 1, n + 2});
  }
  const SurfaceMesh closed = checked_closed(soup, "a.obj");
  EXPECT_EQ(closed.nodes.size(), box.nodes.size());
  EXPECT_NEAR(enclosed_volume(closed), 6, 1e-12);
}

TEST(FillByTetgen, KeepsTheSurfaceAndItsHollows) {
  const auto tetgen = find_program("tetgen");
  if (!tetgen) GTEST_SKIP() << "no program tetgen";
  for (const ClosedShape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const SurfaceMesh surface = checked_closed(shape.surface, shape.name);
    const TetMesh mesh = fill_by_tetgen(*tetgen, surface, 0, shape.name, 600);
    EXPECT_NEAR(check_solid(mesh), enclosed_volume(surface), 1e-6 * enclosed_volume(surface));
    EXPECT_EQ(boundary_surface(mesh).triangles.size(), surface.triangles.size());
  }
  const SurfaceMesh box = boundary_surface(make_box({1, 1, 1}, 1));
  EXPECT_GT(fill_by_tetgen(*tetgen, box, 0.2, "box", 600).tets.size(), 500u);
}

class SolidFiles : public MeshFiles {
 protected:
  SolidFiles() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  ~SolidFiles() override { unsetenv("XDG_CACHE_HOME"); }
  std::filesystem::path write_box() const {
    std::ostringstream out;
    write_obj(out, {{"box", boundary_surface(make_box({1, 1, 1}, 1))}});
    return write("box.obj", out.str());
  }
  std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache/stickslip/solids"))
      files.push_back(entry.path());
    return files;
  }
};

TEST_F(SolidFiles, FilledMeshesAreKept) {
  const auto box = write_box();
  const SolidOptions options{0.25, Mesher::lattice};
  const TetMesh made = load_solid(box, options);
  ASSERT_EQ(kept().size(), 1u);
  const auto time = std::filesystem::last_write_time(kept()[0]);
  const TetMesh again = load_solid(box, options);
  EXPECT_EQ(again.nodes, made.nodes);
  EXPECT_EQ(again.tets, made.tets);
  EXPECT_EQ(std::filesystem::last_write_time(kept()[0]), time);
  load_solid(box, {0.5, Mesher::lattice});
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(SolidFiles, ADamagedCacheIsMadeAgain) {
  const auto box = write_box();
  const TetMesh made = load_solid(box, {0.25, Mesher::lattice});
  std::ofstream(kept().at(0)) << "garbage";
  EXPECT_EQ(load_solid(box, {0.25, Mesher::lattice}).tets, made.tets);
  EXPECT_GT(std::filesystem::file_size(kept().at(0)), 1000u);
}

TEST_F(SolidFiles, WithoutTetgenTheLatticeFills) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  const auto box = write_box();
  EXPECT_GT(load_solid(box).tets.size(), 1000u);
  const std::string refusal = refusal_of([&] { load_solid(box, {0, Mesher::tetgen}); });
  setenv("PATH", path.c_str(), 1);
  expect_parts(refusal, {"box.obj", "no program tetgen", "lattice"});
}

TEST_F(SolidFiles, AnEdgeTooShortIsRefusedByEitherMesher) {
  const auto box = write_box();
  for (const Mesher mesher : {Mesher::automatic, Mesher::tetgen, Mesher::lattice}) {
    if (mesher == Mesher::tetgen && !find_program("tetgen")) continue;
    ::testing::internal::CaptureStderr();
    expect_parts(refusal_of([&] {
                   load_solid(box, {1e-9, mesher});
                 }),
                 {"box.obj", "edge = 1e-09 m is too short", "ten million"});
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");  // no warning about a switch to the lattice
  }
}

TEST_F(SolidFiles, WhatTetgenRefusesTheLatticeFillsWithAWarning) {
  if (!find_program("tetgen")) GTEST_SKIP() << "no program tetgen";
  // Two intersecting boxes with a union of volume 1.75.
  const SurfaceMesh box = boundary_surface(make_box({1, 1, 1}, 1));
  std::ostringstream out;
  SurfaceMesh moved = box;
  for (Vec3d& p : moved.nodes) p += Vec3d{0.5, 0.5, 0};
  write_obj(out, {{"a", box}, {"b", moved}});
  const auto file = write("two.obj", out.str());
  ::testing::internal::CaptureStderr();
  const TetMesh mesh = load_solid(file, {0.1, Mesher::automatic});
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NEAR(check_solid(mesh), 1.75, 0.05);
  expect_parts(warning.substr(0, warning.size() - 1), {"two.obj", "tetgen", "lattice"});
  expect_parts(refusal_of([&] {
                 load_solid(file, {0.1, Mesher::tetgen});
               }),
               {"two.obj", "intersect itself", "lattice"});
}

}  // namespace
}  // namespace stickslip
