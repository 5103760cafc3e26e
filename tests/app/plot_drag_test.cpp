// What the pointer does in a plot, in a window that is not drawn.
#include <gtest/gtest.h>

#include <vector>

#include "app/viewer/plot.h"
#include "tests/app/undrawn_window.h"

namespace stickslip {
namespace {

class PlotDrag : public ::testing::Test {
 protected:
  test::UndrawnWindow window_{400, 300};
  void SetUp() override { draw(); }

  PlotChoice draw() {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 300});
    ImGui::Begin("plots", nullptr, ImGuiWindowFlags_NoDecoration);
    const std::vector<PlotSeries> lines{{"", IM_COL32_WHITE, {1, 2, 3, 4, 5}}};
    const std::vector<float> x{0, 1, 2, 3, 4};
    draw_plot("plot", {380, 200}, x, {"time, s"}, lines, {"value"});
    const PlotChoice choice = choice_of_plot("plot");
    ImGui::End();
    ImGui::Render();
    return choice;
  }
  PlotChoice at(float x, bool left, bool right = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {x, 100};
    io.MouseDown[0] = left;
    io.MouseDown[1] = right;
    return draw();
  }
};

TEST_F(PlotDrag, ADragChoosesAPartAndADoubleClickAll) {
  at(150, false);
  at(150, true);
  EXPECT_FALSE(at(250, true).zoomed) << "not before its end";
  const PlotChoice part = at(250, false);
  EXPECT_TRUE(part.zoomed);
  EXPECT_GT(part.low, 0.8f);
  EXPECT_LT(part.high, 3.2f);
  EXPECT_NEAR(part.high - part.low, 4 * 100.0 / 350, 0.15) << "the axis is about 350 pixels wide";
  // A part of the part: the same pixels stand for less. Later than a double click.
  for (int i = 0; i < 60; ++i) at(150, false);
  at(150, true);
  at(250, true);
  const PlotChoice smaller = at(250, false);
  EXPECT_GT(smaller.low, part.low);
  EXPECT_LT(smaller.high, part.high);
  for (int i = 0; i < 60; ++i) at(200, false);
  for (const bool down : {true, false, true, false}) at(200, down);
  EXPECT_FALSE(at(200, false).zoomed);
}

TEST_F(PlotDrag, AClickChoosesNothing) {
  at(150, false);
  at(150, true);
  at(152, true);
  EXPECT_FALSE(at(152, false).zoomed);
}

TEST_F(PlotDrag, TheMenuChangesTheScale) {
  at(150, false);
  at(150, false, true);
  at(150, false);
  at(150, false);
  // The first entry is at the pointer.
  at(165, false);
  ImGui::GetIO().MousePos.y = 112;
  const auto click = [&](bool down) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {170, 112};
    io.MouseDown[0] = down;
    return draw();
  };
  click(false);
  click(true);
  click(false);
  EXPECT_TRUE(click(false).other_scale);
  EXPECT_FALSE(click(false).zoomed);
}

}  // namespace
}  // namespace stickslip
