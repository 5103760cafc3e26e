#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "app/io/mesh/mesh_gen.h"
#include "mesh_gen_fixture.h"

namespace stickslip {
namespace {

using std::numbers::pi;
using test::dihedral_range;
using test::expect_closed;
using test::volume_of;
using Vec3d = Vec<double, 3>;

/// V - E + F of a closed surface: 2 for each piece, less 2 for each handle.
int euler(const SurfaceMesh& surface) {
  const auto faces = static_cast<int>(surface.triangles.size());
  return static_cast<int>(surface.nodes.size()) - faces * 3 / 2 + faces;
}

TEST(MeshGenRound, APufferIsABallWith42Spines) {
  for (const double edge : {0.1, 0.025, 0.02, 0.012}) {
    SCOPED_TRACE(edge);
    const TetMesh mesh = make_puffer(0.1, 0.04, edge);
    const SurfaceMesh surface = boundary_surface(mesh);
    expect_closed(surface);
    EXPECT_EQ(euler(surface), 2);
    int tips = 0;
    for (const Vec3d& p : surface.nodes) {
      EXPECT_GE(norm(p), 0.1 - 1e-12);
      EXPECT_LE(norm(p), 0.14 + 1e-12);
      tips += norm(p) > 0.14 - 1e-9;
    }
    EXPECT_EQ(tips, 42);
    const auto [low, high] = dihedral_range(mesh);
    EXPECT_GT(low, 10);
    EXPECT_LT(high, 165);
    EXPECT_GT(volume_of(mesh), 4.0 / 3 * pi * 1e-3);
  }
}

TEST(MeshGenRound, AShellIsHollow) {
  for (const double edge : {0.025, 0.0125}) {
    SCOPED_TRACE(edge);
    const TetMesh mesh = make_shell(0.1, 0.012, false, edge);
    const SurfaceMesh surface = boundary_surface(mesh);
    expect_closed(surface);
    EXPECT_EQ(euler(surface), 4) << "an inner and an outer sphere";
    EXPECT_NEAR(volume_of(mesh) / (4.0 / 3 * pi * (1e-3 - std::pow(0.088, 3))), 1, 0.05);
    for (const Vec3d& p : mesh.nodes) EXPECT_TRUE(norm(p) > 0.088 - 1e-12 && norm(p) < 0.1 + 1e-12);
    const auto [low, high] = dihedral_range(mesh);
    EXPECT_GT(low, 15);
    EXPECT_LT(high, 140);
  }
}

TEST(MeshGenRound, WindowsOpenAShellTwelveTimes) {
  const double half = 23 * pi / 180;
  for (const double edge : {0.025, 0.0125}) {
    SCOPED_TRACE(edge);
    const TetMesh mesh = make_shell(0.1, 0.012, true, edge);
    const SurfaceMesh surface = boundary_surface(mesh);
    expect_closed(surface);
    EXPECT_EQ(euler(surface), 2 - 2 * 11) << "a sphere with twelve holes through its wall";
    // A window removes 2 pi (1 - cos half) of the sphere; its decagon is 3% smaller than the circle.
    const double wall = 4.0 / 3 * pi * (1e-3 - std::pow(0.088, 3));
    EXPECT_NEAR(volume_of(mesh) / wall, 1 - 12 * (1 - std::cos(half)) / 2, 0.05);
    EXPECT_GT(dihedral_range(mesh).first, 12);
  }
}

TEST(MeshGenRound, ANetHasAMeshBetweenAllItsBars) {
  for (const int bars : {2, 3, 7}) {
    SCOPED_TRACE(bars);
    const TetMesh mesh = make_net(0.4, 0.3, bars, 0.01, 0.02);
    const SurfaceMesh surface = boundary_surface(mesh);
    expect_closed(surface);
    EXPECT_EQ(euler(surface), 2 - 2 * (bars - 1) * (bars - 1));
    EXPECT_NEAR(volume_of(mesh), 0.01 * (bars * 0.01 * (0.4 + 0.3) - bars * bars * 1e-4), 1e-12);
    Vec3d low = mesh.nodes[0], high = low;
    for (const Vec3d& p : mesh.nodes) low = min(low, p), high = max(high, p);
    EXPECT_LT(norm(high - Vec3d{0.2, 0.005, 0.15}), 1e-12);
    EXPECT_LT(norm(low + high), 1e-12);
  }
  EXPECT_GT(make_net(0.4, 0.4, 3, 0.02, 0.01).tets.size(), make_net(0.4, 0.4, 3, 0.02, 0.02).tets.size());
}

TEST(MeshGenRound, ABowlIsARoundWallThatStandsOnTheGround) {
  struct Case {
    double height, volume, top;
  };
  const double r = 0.2, t = 0.01, m = r + t / 2;
  const double half_ball = 2.0 / 3 * pi * (std::pow(r + t, 3) - std::pow(r, 3));
  const double rim = pi * t * t / 8 * 2 * pi * m;  // half a torus
  for (const Case& c :
       {Case{0.2, half_ball + rim, 0.215}, Case{0.3, half_ball + rim + 2 * pi * m * t * 0.1, 0.315},
        Case{0.1, half_ball / 2 + rim * std::sin(pi / 3), 0}}) {
    SCOPED_TRACE(c.height);
    const SurfaceMesh bowl = make_bowl(r, c.height, t, 0.01);
    expect_closed(bowl);
    EXPECT_EQ(euler(bowl), 2);
    EXPECT_NEAR(volume_of(bowl) / c.volume, 1, 0.02);
    double low = 1, high = 0, inner = 1;
    for (const Vec3d& p : bowl.nodes) {
      low = std::min(low, p[1]), high = std::max(high, p[1]);
      if (std::hypot(p[0], p[2]) < 1e-12 && p[1] > t / 2) inner = std::min(inner, p[1]);
    }
    EXPECT_NEAR(low, 0, 1e-12);
    EXPECT_NEAR(inner, t, 1e-12) << "the bottom is as thick as the wall";
    if (c.top > 0) {
      EXPECT_NEAR(high, c.top, 1e-12);
    }
  }
}

TEST(MeshGenRound, RefusesBadSizes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(make_puffer(bad, 0.1, 0.1), std::invalid_argument);
    EXPECT_THROW(make_puffer(0.1, bad, 0.1), std::invalid_argument);
    EXPECT_THROW(make_shell(0.1, bad, true, 0.1), std::invalid_argument);
    EXPECT_THROW(make_bowl(0.1, bad, 0.1, 0.1), std::invalid_argument);
    EXPECT_THROW(make_net(1, bad, 3, 0.1, 0.1), std::invalid_argument);
    EXPECT_THROW(make_net(1, 1, 3, 0.1, bad), std::invalid_argument);
  }
  EXPECT_THROW(make_shell(0.1, 0.1, false, 0.1), std::invalid_argument);
  EXPECT_THROW(make_net(1, 1, 1, 0.1, 0.1), std::invalid_argument) << "one bar is no net";
  EXPECT_THROW(make_net(1, 1, 10, 0.1, 0.1), std::invalid_argument) << "no opening is left";
  EXPECT_THROW(make_puffer(1, 0.1, 1e-4), std::invalid_argument) << "too many elements";
  EXPECT_THROW(make_shell(1, 0.1, true, 1e-4), std::invalid_argument);
  EXPECT_THROW(make_bowl(1, 1, 0.1, 1e-5), std::invalid_argument);
  EXPECT_THROW(make_net(1, 1, 9, 0.1, 1e-5), std::invalid_argument);
  EXPECT_THROW(make_net(1, 1, 2, 1e-6, 1e-5), std::invalid_argument) << "little material, much grid";
}

}  // namespace
}  // namespace stickslip
