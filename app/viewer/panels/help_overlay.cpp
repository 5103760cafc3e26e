#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {

void draw_help_overlay(PanelContext& context) {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowBgAlpha(1);
  ImGui::SetNextWindowFocus();  // in front of all panels
  ImGui::Begin("Keys", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_AlwaysAutoResize |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove);
  const float column = em(34);
  const ImGuiStyle& style = ImGui::GetStyle();
  const float right = viewport.Size.x - 2 * style.WindowPadding.x - style.ScrollbarSize;
  const auto row = [&](std::string_view input, std::string_view meaning) {
    text_colored(theme::accent, input);
    ImGui::SameLine(column);
    ImGui::PushTextWrapPos(right);
    text_colored(theme::text, meaning);
    ImGui::PopTextWrapPos();
  };
  text_colored(theme::dim_text, "Keys");
  ImGui::Separator();
  for (const Action& action : action_table()) row(chords_text(action), action.meaning);
  ImGui::Spacing();
  text_colored(theme::dim_text, "Pointer");
  ImGui::Separator();
  for (const Gesture& gesture : gesture_table()) row(gesture.input, gesture.meaning);
  ImGui::Spacing();
  if (ImGui::Button("Close")) context.act(ActionId::toggle_help);
  ImGui::End();
}

}  // namespace stickslip
