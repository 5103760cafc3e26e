// The sliders of the selected object's material, in a window that is not drawn.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "tests/app/simulation_fixture.h"
#include "tests/app/undrawn_window.h"

namespace stickslip {
namespace {

constexpr float kSlidersWidth = 420;                                        // [px] of the window
constexpr int kHard = 1;                                                    // material of "high"
const std::vector<std::string> kRows{"density", "young", "poisson", "mu"};  // from the top

class MaterialSliders : public ::testing::Test {
 protected:
  test::UndrawnWindow window_{kSlidersWidth, 300};
  void SetUp() override {
    simulation.post(LoadScene{"a"});
    ASSERT_TRUE(settled());
    ASSERT_EQ(simulation.frame().scene->model.objects[1].material, kHard);
    draw();
  }

  bool settled() {
    return test::reached(simulation, [&] { return simulation.is_caught_up() && simulation.frame().scene; });
  }
  void draw() {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({kSlidersWidth, 300});
    ImGui::Begin("selected", nullptr, ImGuiWindowFlags_NoDecoration);
    top_ = ImGui::GetCursorScreenPos();
    row_ = ImGui::GetFrameHeightWithSpacing();
    left_ = top_.x + em(18) - ImGui::GetStyle().WindowPadding.x;
    right_ = top_.x + ImGui::GetContentRegionAvail().x - ImGui::GetFrameHeight() -
             ImGui::GetStyle().ItemInnerSpacing.x;
    draw_material_of_selected(simulation, typed_, kHard);
    ImGui::End();
    ImGui::Render();
  }
  /// The pointer at this share of the width of the slider in row `row`.
  void at(std::size_t row, float share, bool down) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {left_ + share * (right_ - left_), top_.y + (static_cast<float>(row) + 0.5f) * row_};
    draw();
    io.MouseDown[0] = down;
    draw();
  }
  /// A press at half of the slider and a move to three quarters.
  void drag(std::size_t row) {
    at(row, 0.5f, false);
    at(row, 0.5f, true);
    at(row, 0.75f, true);
    at(row, 0.75f, false);
    ASSERT_TRUE(settled());
  }
  /// Of each row of the table, of the materials of the engine.
  std::vector<double> values(std::size_t material) {
    std::vector<double> all;
    for (const ParamInfo& info : material_table())
      all.push_back(get_param(&simulation.settings().materials[material], info));
    return all;
  }

  Simulation simulation{test::fake(), test::two_tets};
  TypedNumber typed_;
  ImVec2 top_;
  float row_ = 0, left_ = 0, right_ = 0;
};

TEST_F(MaterialSliders, EachMovesItsRowOfThatMaterialAlone) {
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    SCOPED_TRACE(kRows[row]);
    const std::vector<double> soft = values(0), before = values(kHard);
    drag(row);
    const std::vector<double> after = values(kHard);
    EXPECT_EQ(values(0), soft) << "the other object's material";
    for (std::size_t k = 0; k < after.size(); ++k) {
      const ParamInfo& info = material_table()[k];
      if (info.name != kRows[row]) {
        EXPECT_EQ(after[k], before[k]) << info.name;
        continue;
      }
      EXPECT_NE(after[k], before[k]);
      const SliderScale scale = slider_scale(info, before[k]);
      EXPECT_NEAR(scale.position(after[k]), 0.75, 0.03) << after[k];
      EXPECT_NE(simulation.edits().next_undo().find(kRows[row]), std::string::npos)
          << simulation.edits().next_undo();
    }
    simulation.undo();
    ASSERT_TRUE(settled());
    EXPECT_EQ(values(kHard), before) << "a drag is one edit";
    EXPECT_EQ(values(0), soft);
  }
}

TEST_F(MaterialSliders, TheButtonBesideARowTakesItBack) {
  const std::vector<double> before = values(kHard);
  drag(3);
  ASSERT_NE(values(kHard), before);
  const float button = right_ + ImGui::GetStyle().ItemInnerSpacing.x + 0.5f * ImGui::GetFrameHeight();
  const float share = (button - left_) / (right_ - left_);
  at(3, share, false);
  at(3, share, true);
  at(3, share, false);
  ASSERT_TRUE(settled());
  EXPECT_EQ(values(kHard), before);
}

}  // namespace
}  // namespace stickslip
