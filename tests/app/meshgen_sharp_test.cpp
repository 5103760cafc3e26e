#include <gtest/gtest.h>

#include <cmath>

#include "app/io/mesh/mesh_gen.h"
#include "app/io/mesh/mesh_gen_refine.h"
#include "mesh_gen_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;
using namespace test;

struct SharpShape {
  const char* name;
  TetMesh coarse, fine;
  double volume;
};

std::vector<SharpShape> sharp_shapes() {
  const Vec3d size{0.3, 0.4, 0.2};
  const double box = 0.3 * 0.4 * 0.2;
  return {
      {"spike", make_spike(size, 1), make_spike(size, 0.05), box / 3},
      {"wedge", make_wedge(size, 1), make_wedge(size, 0.05), box / 2},
      {"crack", make_crack(size, 0.1, 0.3, 1), make_crack(size, 0.1, 0.3, 0.05), box - 0.1 * 0.3 * 0.2 / 2},
      {"hole", make_hole(size, 0.1, 0.3, 1), make_hole(size, 0.1, 0.3, 0.05), box - 0.1 * 0.1 * 0.3 / 3},
  };
}

TEST(MeshGenSharp, VolumesAreExactAtAnyEdge) {
  for (const SharpShape& shape : sharp_shapes()) {
    SCOPED_TRACE(shape.name);
    EXPECT_NEAR(volume_of(shape.coarse), shape.volume, 1e-12);
    EXPECT_NEAR(volume_of(shape.fine), shape.volume, 1e-12);
    EXPECT_GT(shape.fine.tets.size(), 8 * shape.coarse.tets.size());
  }
}

TEST(MeshGenSharp, SurfacesAreClosedAndFillTheirBox) {
  for (const SharpShape& shape : sharp_shapes()) {
    SCOPED_TRACE(shape.name);
    const SurfaceMesh surface = boundary_surface(shape.fine);
    expect_closed(surface);
    EXPECT_NEAR(volume_of(surface), shape.volume, 1e-12);
    Vec3d low{1, 1, 1}, high{-1, -1, -1};
    for (const Vec3d& p : surface.nodes) low = min(low, p), high = max(high, p);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(high[c], -low[c], 1e-12);
    EXPECT_NEAR(high[1] - low[1], 0.4, 1e-12);
  }
}

TEST(MeshGenSharp, RefinementKeepsTheVolumeAndCutsEachTetIntoCubes) {
  const std::vector<Vec4i> tets{{0, 1, 2, 3}, {1, 2, 3, 4}};
  const std::vector<Vec3d> corners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  for (const int n : {1, 2, 5}) {
    const TetMesh mesh = refined(tets, n, [&](const Vec4i& tet, const std::array<int, 4>& weights) {
      Vec3d p{0, 0, 0};
      for (int c = 0; c < 4; ++c) p += (double(weights[c]) / n) * corners[tet[c]];
      return p;
    });
    EXPECT_EQ(mesh.tets.size(), static_cast<std::size_t>(2 * n * n * n));
    EXPECT_NEAR(volume_of(mesh), 0.5, 1e-12);
    expect_closed(boundary_surface(mesh));
  }
}

TEST(MeshGenSharp, StairsAreClosedAndHaveTheirVolume) {
  const SurfaceMesh stairs = make_stairs(4, 0.3, 0.2, 2);
  expect_closed(stairs);
  EXPECT_NEAR(volume_of(stairs), 2 * 0.3 * 0.2 * (1 + 2 + 3 + 4), 1e-12);
  EXPECT_EQ(stairs.nodes.size(), 2u * 10u) << "corners only";
}

TEST(MeshGenJack, ReachesItsRadiusAndIsThinBetweenItsArms) {
  const TetMesh jack = make_jack(0.2, 0.07, 0.02);
  const SurfaceMesh surface = boundary_surface(jack);
  expect_closed(surface);
  EXPECT_NEAR(volume_of(surface), volume_of(jack), 1e-12);
  double farthest = 0, nearest = 1;
  for (const Vec3d& p : surface.nodes) {
    farthest = std::max(farthest, norm(p));
    nearest = std::min(nearest, norm(p));
  }
  EXPECT_NEAR(farthest, 0.2, 0.01);
  EXPECT_NEAR(nearest, 0.07, 0.01);
}

TEST(MeshGenSharp, RefusesNotchesThatDoNotFit) {
  EXPECT_THROW(make_crack({0.3, 0.4, 0.2}, 0.3, 0.1, 0.1), std::invalid_argument);
  EXPECT_THROW(make_hole({0.3, 0.4, 0.2}, 0.2, 0.1, 0.1), std::invalid_argument);
  EXPECT_THROW(make_hole({0.3, 0.4, 0.2}, 0.1, 0.4, 0.1), std::invalid_argument);
  EXPECT_THROW(make_spike({0.3, -0.4, 0.2}, 0.1), std::invalid_argument);
  EXPECT_THROW(make_wedge({0.3, 0.4, 0.2}, 1e-6), std::invalid_argument);
  EXPECT_THROW(make_wedge({1e-6, 1e-6, 1e6}, 1e-6), std::invalid_argument) << "before it is cut finer";
  EXPECT_THROW(make_jack(0.2, 0.2, 0.05), std::invalid_argument);
  EXPECT_THROW(make_stairs(0, 0.1, 0.1, 1), std::invalid_argument);
}

}  // namespace
}  // namespace stickslip
