// Penumbrae and occlusion have no dots: neighbouring pixels of a smooth surface differ smoothly.
#include <cmath>

#include "app/io/scene/scene.h"
#include "tests/app/render_fixture.h"

namespace stickslip {
namespace {

/// A white floor, and above it a plate that throws a soft shadow; beside them a wall that faces away from the
/// sun, and a block close to it. The floor is a slab, or the ground.
Model stage(bool slab = true) {
  int count = 0;
  const auto box = [&](const char* size, const char* position) {
    return "[[object]]\nname = 'box" + std::to_string(++count) +
           "'\nbody = 'rigid'\nshape = 'box'\ncolor = [0.8, 0.8, 0.8]\nsize = " + size +
           "\nposition = " + position + "\n";
  };
  return parse_scene(
             "[[material]]\nname = 'chalk'\n" +
                 (slab ? box("[6, 0.2, 6]", "[0, -0.1, 0]") : "[[half_space]]\nnormal = [0, 1, 0]\n") +
                 box("[0.8, 0.04, 0.8]", "[-0.8, 0.7, 0.8]") + box("[0.2, 0.8, 1.6]", "[1, 0.4, -0.8]") +
                 box("[0.4, 0.3, 0.4]", "[1.5, 0.15, -0.8]"),
             "/somewhere/stage.toml")
      .model;
}

double level(const Image& image, int x, int y) { return brightness(image.pixel(x, y)) / 3.0; }

/// Of a rectangle of pixels in levels of 255.
struct Texture {
  double noise = 0;  // root mean square difference of a pixel and the mean of its eight neighbours
  double low = 255, high = 0;
};

Texture texture_of(const Image& image, int left, int top, int right, int bottom) {
  Texture texture;
  double sum = 0;
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      double around = 0;
      for (int v = -1; v <= 1; ++v)
        for (int u = -1; u <= 1; ++u) around += level(image, x + u, y + v);
      const double own = level(image, x, y), difference = own - (around - own) / 8;
      sum += difference * difference;
      texture.low = std::min(texture.low, own);
      texture.high = std::max(texture.high, own);
    }
  texture.noise = std::sqrt(sum / ((right - left) * (bottom - top)));
  return texture;
}

class RenderLightTest : public RenderTest {
 protected:
  Image look(const Vec3f& eye, const Vec3f& target, float fov) {
    renderer->set_scene(scene);
    view.camera = Camera::look_at(eye, target, fov);
    return draw();
  }
  Model scene = stage();
};

TEST_F(RenderLightTest, PenumbraeHaveNoDots) {
  for (const Quality quality : {Quality::medium, Quality::high}) {
    SCOPED_TRACE(quality_name(quality));
    renderer->set_quality(quality);
    const Image edge = look({0.45f, 0.5f, 0.45f}, {-0.015f, 0, 0.45f}, 20);
    const Texture texture = texture_of(edge, 10, 10, kWidth - 10, kHeight - 10);
    EXPECT_LT(texture.low, 150) << "the core of the shadow";
    EXPECT_GT(texture.high, 235) << "the lit floor";
    EXPECT_LT(texture.noise, 0.8);
  }
}

/// Texels are a tenth of a pixel here: the edge of the shadow is as soft as a pixel needs.
TEST_F(RenderLightTest, FarShadowsHaveSmoothEdges) {
  renderer->set_quality(Quality::medium);
  scene = stage(false);
  const Image image = look({-0.4f, 6, -11}, {-0.4f, 0, 0}, 40);
  const auto at = [&](float x, float z) { return view.camera.project({x, 0, z}, image.width, image.height); };
  const int top = static_cast<int>(at(-0.4f, 0.3f)[1]), bottom = static_cast<int>(at(-0.4f, -0.4f)[1]);
  const double shade = level(image, static_cast<int>(at(-0.4f, 0.3f)[0]), top),
               sun = level(image, static_cast<int>(at(-0.4f, 0.3f)[0]), bottom);
  ASSERT_GT(sun, shade + 60);
  const int ends[2] = {static_cast<int>(at(-0.15f, 0)[0]), static_cast<int>(at(-0.65f, 0)[0])};
  double sum = 0;
  int columns = 0;
  for (int x = std::min(ends[0], ends[1]); x < std::max(ends[0], ends[1]); ++x, ++columns) {
    double steepest = 0;
    for (int y = top; y < bottom; ++y)
      steepest = std::max(steepest, std::abs(level(image, x, y + 1) - level(image, x, y)));
    sum += steepest / (sun - shade);
  }
  ASSERT_GT(columns, 8);
  EXPECT_LT(sum / columns, 0.7) << "of the contrast, from a pixel to the next";
}

TEST_F(RenderLightTest, OccludedFacesHaveNoDots) {
  for (const Quality quality : {Quality::medium, Quality::high}) {
    SCOPED_TRACE(quality_name(quality));
    renderer->set_quality(quality);
    const Image crease = look({2.2f, 0.8f, 0.4f}, {1.1f, 0.3f, -0.8f}, 40);
    const Texture texture = texture_of(crease, 75, 128, 128, 170);
    EXPECT_GT(texture.high - texture.low, 12) << "darker towards the block";
    EXPECT_LT(texture.noise, 0.8);
  }
}

/// The plate's top seen from above, and its shadow beside it: both are even up to the edge between them.
TEST_F(RenderLightTest, ShadowsDoNotReachOverEdges) {
  renderer->set_quality(Quality::high);
  const Image image = look({-0.6f, 3, 0.9f}, {-0.6f, 0, 0.8f}, 30);
  const auto at = [&](float x, float y, float z) { return brightness(pixel_of(image, {x, y, z})); };
  const int top = at(-0.8f, 0.72f, 0.8f);
  for (float z = 0.45f; z < 1.2f; z += 0.05f)
    EXPECT_NEAR(at(-0.41f, 0.72f, z), top, 12) << "2 pixels from the edge, at z = " << z;
}

}  // namespace
}  // namespace stickslip
