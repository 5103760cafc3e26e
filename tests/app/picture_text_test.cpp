// Text in pictures without panels.
#include "app/viewer/picture_text.h"

#include <gtest/gtest.h>

namespace stickslip {
namespace {

constexpr ImU32 kWhite = IM_COL32(255, 255, 255, 255);

class PictureTextTest : public ::testing::Test {
 protected:
  PictureTextTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {200, 100};
    io.IniFilename = nullptr;
    io.Fonts->Build();
    ImGui::NewFrame();
    ImGui::EndFrame();
  }
  ~PictureTextTest() override { ImGui::DestroyContext(); }

  /// Sum of red within [x0, x1) x [y0, y1).
  long light(int x0, int y0, int x1, int y1) const {
    long sum = 0;
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) sum += image.pixel(x, y)[0];
    return sum;
  }

  Image image{120, 40, std::vector<std::uint8_t>(std::size_t{4} * 120 * 40, 0)};
};

TEST_F(PictureTextTest, ALineIsAsLargeAsInTheWindowTimesItsScale) {
  const ImVec2 size = ImGui::CalcTextSize("mu 0.5");
  ASSERT_LT(2 * size.x, 110);
  draw_text(image, 4, 3, "mu 0.5", kWhite, 1, {0, 0, 120, 40});
  const long once = light(0, 0, 120, 40);
  EXPECT_GT(once, 255 * 20);
  EXPECT_EQ(light(0, 0, 4, 40) + light(4 + static_cast<int>(size.x) + 1, 0, 120, 40), 0) << "beside it";
  EXPECT_EQ(light(0, 4 + static_cast<int>(size.y), 120, 40), 0) << "below it";
  image.rgba.assign(image.rgba.size(), 0);
  draw_text(image, 4, 3, "mu 0.5", kWhite, 2, {0, 0, 120, 40});
  EXPECT_NEAR(static_cast<double>(light(0, 0, 120, 40)), 4.0 * static_cast<double>(once), 0.2 * 4 * once);
}

TEST_F(PictureTextTest, CharactersBeyondAsciiAreOneGlyph) {
  const char* micro = "\xC2\xB5";
  draw_text(image, 4, 3, micro, kWhite, 1, {0, 0, 120, 40});
  const int end = 4 + static_cast<int>(ImGui::CalcTextSize(micro).x) + 1;
  EXPECT_GT(light(4, 0, end, 40), 0);
  EXPECT_EQ(light(end, 0, 120, 40), 0);
  EXPECT_NO_THROW(draw_text(image, 4, 3, "\xC2", kWhite, 1, {0, 0, 120, 40})) << "cut short";
}

TEST_F(PictureTextTest, NothingIsDrawnOutsideOfTheClipOrThePicture) {
  draw_text(image, 4, 3, "a long line that leaves the picture", kWhite, 1, {20, 0, 500, 500});
  EXPECT_EQ(light(0, 0, 20, 40), 0);
  EXPECT_GT(light(20, 0, 120, 40), 0);
}

TEST_F(PictureTextTest, AnAreaCoversByItsAlpha) {
  for (std::size_t i = 0; i < image.rgba.size() / 2; ++i) image.rgba[i] = 200;  // the upper rows
  for (std::size_t i = 3; i < image.rgba.size() / 2; i += 4) image.rgba[i] = 255;
  fill_area(image, {10, 10, 20, 30}, IM_COL32(100, 0, 0, 128));
  const std::uint8_t *over = image.pixel(12, 12), *alone = image.pixel(12, 25);
  EXPECT_NEAR(over[0], 150, 1);
  EXPECT_NEAR(over[1], 100, 1);
  EXPECT_EQ(over[3], 255);
  EXPECT_EQ(alone[0], 100) << "over nothing it has its own colour";
  EXPECT_EQ(alone[3], 128);
  EXPECT_EQ(image.pixel(20, 12)[0], 200);
}

}  // namespace
}  // namespace stickslip
