// Which presses are for the panels, and which for the scene, in a window that is not drawn.
#include <gtest/gtest.h>
#include <imgui.h>

#include <functional>

#include "app/viewer/gui.h"
#include "tests/app/undrawn_window.h"

namespace stickslip {
namespace {

class PanelsTake : public ::testing::Test {
 protected:
  test::UndrawnWindow window_{400, 300};
  void SetUp() override { draw(); }

  /// A picture with a panel on the left, and the pointer at this place.
  void draw(const ImVec2& pointer = {300, 100}, bool down = false) {
    ImGui::GetIO().MousePos = pointer;
    ImGui::GetIO().MouseDown[0] = down;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({100, 300});
    ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration);
    ImGui::SetCursorPos({10, 10});
    ImGui::Button("button", {80, 20});
    more();
    ImGui::End();
    ImGui::SetNextWindowPos({200, 0});
    ImGui::SetNextWindowSize({100, 300});
    ImGui::Begin("caption", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs);
    ImGui::End();
    ImGui::Render();
  }
  std::function<void()> more = [] {};
};

/// A quick pointer is over the panel before the next picture is drawn.
TEST_F(PanelsTake, ThePlaceOfThePressCountsNotThatOfTheLastPicture) {
  draw({300, 100});
  EXPECT_FALSE(ImGui::GetIO().WantCaptureMouse);
  EXPECT_TRUE(panels_take({50, 20}));
  draw({50, 20});
  EXPECT_TRUE(ImGui::GetIO().WantCaptureMouse);
  EXPECT_FALSE(panels_take({300, 100}));
  EXPECT_FALSE(panels_take({250, 100})) << "what takes no input is in front of the scene only for the eye";
}

TEST_F(PanelsTake, AWidgetThatIsHeldAndAnOpenList) {
  draw({50, 20});
  draw({50, 20}, true);
  EXPECT_TRUE(panels_take({300, 100})) << "the button is held";
  draw({50, 20});
  EXPECT_FALSE(panels_take({300, 100}));
  more = [] {
    if (ImGui::BeginPopup("list")) ImGui::EndPopup();
  };
  const auto plain = more;
  more = [plain] {
    ImGui::OpenPopup("list");
    plain();
  };
  draw();
  more = plain;
  draw();
  EXPECT_TRUE(panels_take({300, 100})) << "the press closes the list";
}

TEST_F(PanelsTake, ATextFieldWithTheFocusLeavesPressesToTheScene) {
  static char text[16] = "";
  more = [] {
    ImGui::SetKeyboardFocusHere();
    ImGui::InputText("text", text, sizeof text);
  };
  for (int i = 0; i < 3; ++i) draw();
  EXPECT_TRUE(ImGui::IsAnyItemActive());
  EXPECT_FALSE(panels_take({300, 100}));
  EXPECT_TRUE(panels_take({50, 20}));
}

}  // namespace
}  // namespace stickslip
