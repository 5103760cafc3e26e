// The camera's arithmetic and the vertices of the drawn surface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <tuple>

#include "app/io/mesh/mesh_gen.h"
#include "app/render/camera.h"
#include "app/render/mesh_topology.h"
#include "app/render/palette.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {
namespace {

constexpr int kGeometryWidth = 640, kGeometryHeight = 360;

Camera random_camera(std::mt19937& random) {
  std::uniform_real_distribution<float> unit(-1, 1);
  Camera camera;
  camera.target = {unit(random), unit(random), unit(random)};
  camera.yaw = 3 * unit(random);
  camera.pitch = 1.5f * unit(random);
  camera.distance = std::exp(2 * unit(random));
  camera.fov = 45 + 20 * unit(random);
  camera.covered = std::max(0.f, 0.6f * unit(random));
  return camera;
}

TEST(RenderCamera, ARayGoesThroughThePointThatItsPixelShows) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1, 1);
  for (int i = 0; i < 200; ++i) {
    const Camera camera = random_camera(random);
    const Vec3f point =
        camera.target + 0.3f * camera.distance * Vec3f{unit(random), unit(random), unit(random)};
    const Vec3f at = camera.project(point, kGeometryWidth, kGeometryHeight);
    const Ray ray = camera.ray(at[0], at[1], kGeometryWidth, kGeometryHeight);
    EXPECT_NEAR(norm(ray.direction), 1, 1e-5f);
    EXPECT_LT(norm(cross(point - ray.origin, ray.direction)), 1e-3f * camera.distance);
  }
}

TEST(RenderCamera, MatricesAgreeWithProject) {
  const unsigned seed = stickslip::fixtures::fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    const Camera camera = random_camera(random);
    const Vec3f point =
        camera.target + 0.2f * camera.distance * camera.right() - 0.1f * camera.distance * camera.up();
    const Vec3f at = camera.project(point, kGeometryWidth, kGeometryHeight);
    const glm::vec4 clip = camera.projection(static_cast<float>(kGeometryWidth) / kGeometryHeight) *
                           camera.view() * glm::vec4(point[0], point[1], point[2], 1);
    EXPECT_NEAR((0.5f + 0.5f * clip.x / clip.w) * kGeometryWidth, at[0], 0.05f);
    EXPECT_NEAR((0.5f + 0.5f * clip.y / clip.w) * kGeometryHeight, at[1], 0.05f);
    EXPECT_GT(clip.z / clip.w, 0);
    EXPECT_LT(clip.z / clip.w, 1);
  }
}

TEST(RenderCamera, LookAtKeepsEyeAndTarget) {
  const Camera camera = Camera::look_at({1, 2, -3}, {0.5f, 0, 1}, 30);
  EXPECT_LT(norm(camera.eye() - Vec3f{1, 2, -3}), 1e-5f);
  EXPECT_EQ(camera.target, (Vec3f{0.5f, 0, 1}));
  EXPECT_TRUE(std::isfinite(norm(Camera::look_at({0, 5, 0}, {0, 0, 0}, 30).eye()))) << "straight down";
}

TEST(RenderCamera, TurnToViewsAlongTheAxes) {
  constexpr float kQuarter = 0.5f * std::numbers::pi_v<float>;
  Camera camera;
  camera.target = {1, 2, 3};
  camera.distance = 2;
  camera.turn_to(0, 0);
  EXPECT_LT(norm(camera.eye() - Vec3f{1, 2, 5}), 1e-5f);
  camera.turn_to(kQuarter, 0);
  EXPECT_LT(norm(camera.eye() - Vec3f{3, 2, 3}), 1e-5f);
  camera.turn_to(0, kQuarter);
  EXPECT_LT(norm(camera.eye() - Vec3f{1, 4, 3}), 0.04f) << "short of vertical, where yaw is undefined";
  EXPECT_LT(camera.up()[2], -0.99f) << "the front is below";
  EXPECT_GT(camera.right()[0], 0.99f);
}

TEST(RenderCamera, FrameShowsAllCornersOfTheBounds) {
  const Bounds bounds{{-1, 0, 2}, {3, 0.5f, 4}};
  for (const auto& [width, height] : {std::pair{640, 360}, {300, 700}}) {
    Camera camera;
    camera.frame(bounds, static_cast<float>(width) / static_cast<float>(height));
    for (int corner = 0; corner < 8; ++corner) {
      Vec3f point;
      for (int c = 0; c < 3; ++c) point[c] = (corner >> c & 1) ? bounds.high[c] : bounds.low[c];
      const Vec3f at = camera.project(point, width, height);
      EXPECT_GT(at[2], 0);
      EXPECT_TRUE(at[0] > 0 && at[0] < static_cast<float>(width) && at[1] > 0 &&
                  at[1] < static_cast<float>(height));
    }
  }
}

TEST(RenderCamera, PanMovesTheTargetWithThePointer) {
  Camera camera;
  const Vec3f grabbed = camera.target;
  camera.pan(37, -12, kGeometryHeight);
  const Vec3f at = camera.project(grabbed, kGeometryWidth, kGeometryHeight);
  EXPECT_NEAR(at[0], kGeometryWidth / 2 + 37, 0.1f);
  EXPECT_NEAR(at[1], kGeometryHeight / 2 - 12, 0.1f);
}

TEST(RenderCamera, OrbitStopsShortOfThePolesAndZoomIsBounded) {
  Camera camera;
  camera.orbit(0, 10000, kGeometryHeight);
  EXPECT_LT(camera.pitch, 1.571f);
  camera.orbit(0, -20000, kGeometryHeight);
  EXPECT_GT(camera.pitch, -1.571f);
  const float before = camera.distance;
  camera.zoom(1);
  EXPECT_NEAR(camera.distance, 0.9f * before, 1e-5f);
  camera.zoom(1e6f);
  EXPECT_GT(camera.distance, 0);
  camera.zoom(-1e6f);
  EXPECT_TRUE(std::isfinite(camera.distance));
}

Model one_body(const TetMesh& mesh) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("any");
  add_solid(model, "body", mesh.nodes, mesh.tets, 0);
  finalize(model);
  return model;
}

TEST(RenderTopology, ABoxSplitsItsEdgesAndCorners) {
  const Model model = one_body(make_box({1, 1, 1}, 0.25));
  std::size_t expected = 0;
  for (const std::int32_t node : model.surface_nodes) {
    int faces = 0;  // number of the box's faces at this node
    for (int c = 0; c < 3; ++c) faces += std::abs(std::abs(model.positions[node][c]) - 0.5) < 1e-9;
    expected += static_cast<std::size_t>(faces);
  }
  EXPECT_EQ(build_topology(model).vertices.size(), expected);
}

TEST(RenderTopology, ASphereIsSmooth) {
  const Model model = one_body(make_sphere(0.5, 0.1));
  EXPECT_EQ(build_topology(model).vertices.size(), model.surface_nodes.size());
}

TEST(RenderTopology, SeamsSplitColoursAndNotNormals) {
  Model model;
  model.materials.emplace_back();
  model.material_names.emplace_back("m");
  model.cloth_patterns.push_back({{{{{0, 0}, {1, 0}, {1, 1}}}, {{{3, 0}, {4, 1}, {3, 1}}}}});
  add_cloth(model, "cloth", {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}, 0, 1e-3)
      .cloth_pattern = 0;
  finalize(model);
  const MeshTopology mesh = build_topology(model);
  ASSERT_EQ(mesh.vertices.size(), 6U);
  EXPECT_EQ(mesh.fans.size(), 6U);
  for (std::size_t i = 0; i < mesh.indices.size(); ++i) {
    const shared::MeshVertex& vertex = mesh.vertices.at(mesh.indices[i]);
    EXPECT_EQ(vertex.look, i / 3) << "the second panel has the second shade of the only object";
    const bool at_seam = vertex.node == 0 || vertex.node == 2;
    EXPECT_EQ(vertex.fan_end - vertex.fan_begin, at_seam ? 2U : 1U);
  }
}

TEST(RenderTopology, EveryCornerPointsToAVertexOfItsNodeWithItsTriangleInTheFan) {
  const Model model = one_body(make_cylinder(0.3, 0.5, 0.1));
  const MeshTopology mesh = build_topology(model);
  ASSERT_EQ(mesh.indices.size(), 3 * model.triangles.size());
  EXPECT_EQ(mesh.fans.size(), 3 * model.triangles.size());
  for (std::size_t t = 0; t < model.triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const shared::MeshVertex& vertex = mesh.vertices.at(mesh.indices[3 * t + static_cast<std::size_t>(k)]);
      ASSERT_EQ(vertex.node, static_cast<std::uint32_t>(model.triangles[t][k]));
      const auto begin = mesh.fans.begin() + vertex.fan_begin, end = mesh.fans.begin() + vertex.fan_end;
      ASSERT_EQ(std::count(begin, end, static_cast<std::uint32_t>(t)), 1);
    }
}

TEST(RenderPalette, ColorsDiffer) {
  std::set<std::tuple<float, float, float>> seen;
  for (std::size_t i = 0; i < palette_size(); ++i) {
    const Vec3f c = palette_color(i);
    seen.insert({c[0], c[1], c[2]});
  }
  EXPECT_EQ(seen.size(), palette_size());
  EXPECT_EQ(palette_color(palette_size()), palette_color(0));
}

}  // namespace
}  // namespace stickslip
