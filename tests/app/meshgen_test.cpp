#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "app/io/mesh/mesh_gen.h"
#include "gpu/model/model.h"
#include "mesh_gen_fixture.h"

namespace stickslip {
namespace {

using std::numbers::pi;
using Vec3d = Vec<double, 3>;
using test::dihedral_range;
using test::expect_closed;
using test::volume_of;

struct MeshedShape {
  const char* name;
  TetMesh mesh;
  double volume, tolerance;
  int euler;  // V - E + F of the surface
};

std::vector<MeshedShape> shapes() {
  return {
      {"box", make_box({0.3, 0.2, 0.1}, 0.05), 0.006, 1e-12, 2},
      {"box of one cell", make_box({1, 1, 1}, 5), 1, 1e-12, 2},
      {"box of uneven cells", make_box({0.37, 0.21, 0.13}, 0.05), 0.37 * 0.21 * 0.13, 1e-12, 2},
      {"bar", make_bar(1, 0.1, 0.05), 0.01, 1e-12, 2},
      {"coarse sphere", make_sphere(0.1, 0.05), 4.0 / 3 * pi * 1e-3, 0.13, 2},
      {"fine sphere", make_sphere(0.1, 0.0125), 4.0 / 3 * pi * 1e-3, 0.012, 2},
      {"coarse cylinder", make_cylinder(0.1, 0.3, 0.05), pi * 3e-3, 0.05, 2},
      {"fine cylinder", make_cylinder(0.1, 0.2, 0.02), pi * 2e-3, 0.01, 2},
      {"tube of one layer", make_tube(0.1, 0.02, 0.3, 0.02), pi * (0.01 - 0.0064) * 0.3, 0.01, 0},
      {"thick tube", make_tube(0.1, 0.04, 0.2, 0.02), pi * (0.01 - 0.0036) * 0.2, 0.01, 0},
      {"voussoir", make_voussoir(1, 0.2, 0.3, 60, 0.05), pi / 6 * (1.44 - 1) * 0.3, 0.001, 2},
      {"coarse torus", make_torus(0.2, 0.08, 0.08), 2 * pi * pi * 0.2 * 0.0064, 0.2, 0},
      {"fine torus", make_torus(0.2, 0.08, 0.02), 2 * pi * pi * 0.2 * 0.0064, 0.02, 0},
  };
}

TEST(MeshGen, VolumesMatchTheAnalyticOnes) {
  for (const MeshedShape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    EXPECT_NEAR(volume_of(shape.mesh) / shape.volume, 1, shape.tolerance);
  }
}

TEST(MeshGen, ElementsAreWellShaped) {
  for (const MeshedShape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto [low, high] = dihedral_range(shape.mesh);
    EXPECT_GT(low, 25);
    EXPECT_LT(high, 135);
    RecordProperty(shape.name, std::to_string(low) + ".." + std::to_string(high));
  }
}

TEST(MeshGen, SurfacesAreClosedAndOfTheRightGenus) {
  for (const MeshedShape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const SurfaceMesh surface = boundary_surface(shape.mesh);
    expect_closed(surface);
    EXPECT_NEAR(volume_of(surface), volume_of(shape.mesh), 1e-12);
    const auto faces = static_cast<int>(surface.triangles.size());
    EXPECT_EQ(static_cast<int>(surface.nodes.size()) - faces * 3 / 2 + faces, shape.euler);
  }
}

TEST(MeshGen, SurfaceNodesLieOnTheShape) {
  for (const Vec3d& p : boundary_surface(make_sphere(0.1, 0.02)).nodes) EXPECT_NEAR(norm(p), 0.1, 1e-12);
  for (const Vec3d& p : boundary_surface(make_torus(0.2, 0.05, 0.02)).nodes)
    EXPECT_NEAR(std::hypot(std::hypot(p[0], p[2]) - 0.2, p[1]), 0.05, 1e-12);
  for (const Vec3d& p : boundary_surface(make_cylinder(0.1, 0.3, 0.03)).nodes)
    EXPECT_TRUE(std::abs(std::abs(p[1]) - 0.15) < 1e-12 || std::abs(std::hypot(p[0], p[2]) - 0.1) < 1e-12);
}

TEST(MeshGen, ThinTubesHaveAllNodesOnTheirSurface) {
  const TetMesh tube = make_tube(0.1, 0.01, 0.3, 0.01);
  EXPECT_EQ(boundary_surface(tube).nodes.size(), tube.nodes.size());
  for (const Vec3d& p : tube.nodes) {
    const double r = std::hypot(p[0], p[2]);
    EXPECT_TRUE(std::abs(r - 0.1) < 1e-12 || std::abs(r - 0.09) < 1e-12);
  }
}

TEST(MeshGen, AVoussoirLiesBetweenItsRadiiAndItsCutsAreFlat) {
  const double half = 20 * pi / 180;
  int on_cuts = 0;
  for (const Vec3d& p : boundary_surface(make_voussoir(1, 0.2, 0.3, 40, 0.05)).nodes) {
    const double r = std::hypot(p[0], p[1]), turn = std::atan2(p[0], p[1]);
    const bool on_cut = std::abs(std::abs(turn) - half) < 1e-12;
    on_cuts += on_cut;
    EXPECT_TRUE(on_cut || std::abs(r - 1) < 1e-12 || std::abs(r - 1.2) < 1e-12 ||
                std::abs(std::abs(p[2]) - 0.15) < 1e-12);
  }
  EXPECT_EQ(on_cuts, 2 * 5 * 7);
}

TEST(MeshGen, EdgeLengthIsTheWishedOne) {
  for (const double edge : {0.05, 0.02}) {
    for (const TetMesh& mesh :
         {make_box({0.2, 0.2, 0.2}, edge), make_sphere(0.1, edge), make_cylinder(0.1, 0.2, edge)}) {
      double sum = 0, count = 0;
      for (const Vec4i& t : mesh.tets)
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < i; ++j, ++count) sum += norm(mesh.nodes[t[i]] - mesh.nodes[t[j]]);
      EXPECT_NEAR(sum / count / edge, 1.2, 0.25);
    }
  }
}

TEST(MeshGen, RampAndPlane) {
  const SurfaceMesh ramp = make_ramp(2, 0.5, 1);
  expect_closed(ramp);
  EXPECT_NEAR(volume_of(ramp), 0.5, 1e-12);
  const SurfaceMesh plane = make_plane(2, 3, 0.5);
  double area = 0;
  for (const Vec3i& t : plane.triangles) {
    const Vec3d n = cross(plane.nodes[t[1]] - plane.nodes[t[0]], plane.nodes[t[2]] - plane.nodes[t[0]]);
    EXPECT_GT(n[1], 0);
    area += norm(n) / 2;
  }
  EXPECT_NEAR(area, 6, 1e-12);
}

TEST(MeshGen, RefusesBadLengths) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(make_box({1, bad, 1}, 0.1), std::invalid_argument);
    EXPECT_THROW(make_sphere(1, bad), std::invalid_argument);
    EXPECT_THROW(make_cylinder(bad, 1, 0.1), std::invalid_argument);
    EXPECT_THROW(make_torus(1, bad, 0.1), std::invalid_argument);
    EXPECT_THROW(make_tube(1, 0.1, bad, 0.1), std::invalid_argument);
    EXPECT_THROW(make_voussoir(1, bad, 0.1, 20, 0.1), std::invalid_argument);
    EXPECT_THROW(make_voussoir(1, 0.2, 0.1, bad, 0.1), std::invalid_argument);
    EXPECT_THROW(make_ramp(1, bad, 0.1), std::invalid_argument);
  }
  EXPECT_THROW(make_torus(0.1, 0.2, 0.1), std::invalid_argument);
  EXPECT_THROW(make_tube(0.1, 0.1, 1, 0.1), std::invalid_argument);
  EXPECT_THROW(make_voussoir(1, 0.2, 0.1, 180, 0.1), std::invalid_argument);
  EXPECT_THROW(make_box({1, 1, 1}, 1e-5), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
