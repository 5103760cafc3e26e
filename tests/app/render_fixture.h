// A small scene and one renderer for all picture tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "app/io/mesh/mesh_gen.h"
#include "app/render/renderer.h"

namespace stickslip {

/// An orange cube of 1 m that stands on the ground at the origin.
inline Model cube_on_ground(double edge = 0.25) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("any");
  TetMesh cube = make_box({1, 1, 1}, edge);
  for (auto& x : cube.nodes) x[1] += 0.5;
  add_solid(model, "cube", cube.nodes, cube.tets, 0).color = {0.9f, 0.45f, 0.1f};
  model.half_spaces.push_back({});
  finalize(model);
  return model;
}

inline std::vector<Vec3f> moved_nodes(const Model& model, const Vec3f& by) {
  std::vector<Vec3f> positions;
  for (const auto& x : model.positions) positions.push_back(x.cast<float>() + by);
  return positions;
}

inline Camera front_camera() { return Camera::look_at({1.5f, 2.f, 4.f}, {0, 0.4f, 0}, 40); }

inline int brightness(const std::uint8_t* p) { return p[0] + p[1] + p[2]; }

/// What a picture shows in a pane.
inline Image part(const Image& whole, const Pane& pane) {
  Image out{pane.width, pane.height, {}};
  for (int y = 0; y < pane.height; ++y) {
    const std::uint8_t* row = whole.pixel(pane.x, pane.y + y);
    out.rgba.insert(out.rgba.end(), row, row + std::size_t{4} * static_cast<std::size_t>(pane.width));
  }
  return out;
}

inline std::size_t pixels_that_differ(const Image& a, const Image& b, int threshold = 12) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.rgba.size(); i += 4) {
    int difference = 0;
    for (std::size_t c = 0; c < 3; ++c)
      difference = std::max(difference, std::abs(a.rgba[i + c] - b.rgba[i + c]));
    count += difference > threshold;
  }
  return count;
}

class RenderTest : public ::testing::Test {
 protected:
  static constexpr int kWidth = 320, kHeight = 240;

  static void SetUpTestSuite() {
    try {
      renderer = std::make_unique<Renderer>(RendererOptions{.quality = Quality::light, .validation = true});
    } catch (const NoDeviceError& error) {
      missing = error.what();
    }
  }
  static void TearDownTestSuite() { renderer.reset(); }

  void SetUp() override {
    if (!renderer) GTEST_SKIP() << missing;
    renderer->set_quality(Quality::light);
    renderer->set_scene(model);
    view.camera = front_camera();
  }
  void TearDown() override {
    if (!renderer) return;
    EXPECT_EQ(renderer->validation_messages().size(), 0u)
        << "first: " << renderer->validation_messages().front();
  }

  Image draw() { return renderer->render_offscreen(view, kWidth, kHeight); }
  const std::uint8_t* pixel_of(const Image& image, const Vec3f& point) const {
    const Vec3f at = view.camera.project(point, image.width, image.height);
    return image.pixel(static_cast<int>(at[0]), static_cast<int>(at[1]));
  }

  Model model = cube_on_ground();
  FrameView view;
  static inline std::unique_ptr<Renderer> renderer;
  static inline std::string missing;
};

}  // namespace stickslip
