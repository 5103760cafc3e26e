#include <algorithm>
#include <cmath>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"

namespace stickslip {
namespace {

constexpr ImGuiWindowFlags fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove |
                                   ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings |
                                   ImGuiWindowFlags_NoBringToFrontOnFocus;

void begin(const char* name, ImVec2 at, ImVec2 size, ImGuiWindowFlags flags = fixed) {
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::Begin(name, nullptr, flags);
}

}  // namespace

void draw_panels(PanelContext& context) {
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  const float bar = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().WindowPadding.y;
  // The scene keeps at least the middle third.
  const float side = std::floor(std::min(em(44), window.x / 3));
  const float height = window.y - bar;
  if (context.view.panels) {
    begin("left", {0, 0}, {side, height});
    draw_scene_panel(context);
    if (section("Run")) draw_transport_panel(context);
    draw_parameters_panel(context);
    ImGui::End();
    begin("right", {window.x - side, 0}, {side, height});
    draw_view_panel(context);
    draw_selection_panel(context);
    draw_report_panel(context);
    ImGui::End();
    begin("status", {0, height}, {window.x, bar}, fixed | ImGuiWindowFlags_NoScrollbar);
    draw_status_bar(context);
    ImGui::End();
  }
  if (context.view.log) {
    const float log_height = std::floor(std::min(em(18), 0.4f * height));
    const float left = context.view.panels ? side : 0, bottom = context.view.panels ? height : window.y;
    begin("log", {left, bottom - log_height}, {window.x - 2 * left, log_height});
    draw_log_panel(context);
    ImGui::End();
  }
  if (context.view.help) draw_help_overlay(context);
}

}  // namespace stickslip
