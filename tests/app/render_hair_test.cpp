// Hair in pictures: highlights along the strands, and widths below a pixel.
#include <cmath>

#include "app/render/threads.h"
#include "tests/app/render_fixture.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

const Vec3d kToSun = normalized(Vec3d{-0.55, 1, 0.5});
const Vec3d kAcross = normalized(cross(Vec3d{0, 1, 0}, kToSun)), kUp = cross(kToSun, kAcross);

/// Straight strands of 1 m beside each other, across the way to the sun but for `incline` [rad].
Model strands(int count, double diameter, double incline) {
  Model model;
  model.materials.push_back({});
  model.material_names.push_back("any");
  std::vector<Vec3d> nodes;
  std::vector<Vec2i> segments;
  const Vec3d along = std::cos(incline) * kUp + std::sin(incline) * kToSun;
  for (int s = 0; s < count; ++s)
    for (int i = 0; i <= 8; ++i) {
      nodes.push_back((s - 0.5 * count) * 0.03 * kAcross + (i / 8.0 - 0.5) * along);
      const auto last = static_cast<std::int32_t>(nodes.size()) - 1;
      if (i > 0) segments.push_back({last - 1, last});
    }
  add_rods(model, "hair", nodes, segments, 0, diameter).color = {0.6f, 0.35f, 0.2f};
  finalize(model);
  return model;
}

TEST(Hair, IsAnObjectOfManyStrandsAndHasNoPattern) {
  const Model few = strands(11, 1e-3, 0), many = strands(12, 1e-3, 0);
  EXPECT_FALSE(is_hair(few, few.objects[0]));
  EXPECT_TRUE(has_pattern(few, few.objects[0]));
  EXPECT_TRUE(is_hair(many, many.objects[0]));
  EXPECT_FALSE(has_pattern(many, many.objects[0]));
}

class RenderHairTest : public RenderTest {
 protected:
  /// From the sun, against a plain background.
  Image draw_from_sun(const Model& hair, float distance) {
    renderer->set_scene(hair);
    view.camera = Camera::look_at(distance * kToSun.cast<float>(), {0, 0, 0}, 20);
    view.transparent = true;
    return draw();
  }
  static double covered(const Image& image) {
    double sum = 0;
    for (std::size_t i = 3; i < image.rgba.size(); i += 4) sum += image.rgba[i] / 255.0;
    return sum;
  }
  /// Mean colour where hair is.
  static Vec3f color_of(const Image& image) {
    Vec3f sum{0, 0, 0};
    float count = 0;
    for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
      if (image.rgba[i + 3] < 255) continue;
      sum += Vec3f{float(image.rgba[i]), float(image.rgba[i + 1]), float(image.rgba[i + 2])};
      ++count;
    }
    return sum / std::max(count, 1.f);
  }
};

TEST_F(RenderHairTest, FarStrandsCoverTheirShareOfPixels) {
  const Model hair = strands(40, 0.01, 0);
  for (const Quality quality : {Quality::light, Quality::medium}) {
    renderer->set_quality(quality);
    const double near = covered(draw_from_sun(hair, 4));  // 1.7 pixels wide
    EXPECT_GT(near, 2000);
    for (const float times : {3.f, 6.f})
      EXPECT_NEAR(covered(draw_from_sun(hair, 4 * times)) * times * times, near, 0.2 * near)
          << quality_name(quality) << ", " << times << " times as far";
  }
}

TEST_F(RenderHairTest, FarStrandsDoNotFlicker) {
  renderer->set_quality(Quality::medium);
  const Model hair = strands(40, 0.01, 0);
  const double at_first = covered(draw_from_sun(hair, 16));
  for (const float by : {0.002f, 0.005f, 0.011f}) {
    std::vector<Vec3f> moved;
    for (const auto& x : hair.positions) moved.push_back((x + by * kAcross).cast<float>());
    renderer->set_positions(moved);
    EXPECT_NEAR(covered(draw()), at_first, 0.05 * at_first) << by;
  }
}

/// With the viewer at the sun both are inclined alike, and what counts is the sum of both sines.
TEST_F(RenderHairTest, HasAWhiteHighlightAndAColouredOneBesideIt) {
  const auto look = [&](double incline) { return color_of(draw_from_sun(strands(40, 0.03, incline), 4)); };
  const Vec3f white = look(0.05), coloured = look(-0.09), beside = look(0.45), below = look(-0.45);
  const auto whiteness = [](const Vec3f& c) { return c[2] / c[0]; };
  EXPECT_GT(white[0], beside[0] + 10);
  EXPECT_GT(coloured[0], below[0] + 10);
  EXPECT_GT(coloured[0], beside[0] + 10);
  EXPECT_GT(whiteness(white), 1.1f * whiteness(coloured));
  EXPECT_GT(whiteness(white), 1.1f * whiteness(beside));
}

}  // namespace
}  // namespace stickslip
