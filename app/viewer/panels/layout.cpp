#include <algorithm>
#include <cmath>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr ImGuiWindowFlags fixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove |
                                   ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings |
                                   ImGuiWindowFlags_NoBringToFrontOnFocus;

// Of the height above the timeline: what the lab and the log may cover of the scene.
constexpr float kMostCovered = 0.8f;
constexpr float kNarrowest = 37;  // [em()] width of a panel beside the scene

// The window has the panels' colour where it shows no scene, and a fill costs a software renderer much.
constexpr ImGuiWindowFlags beside_scene = fixed | ImGuiWindowFlags_NoBackground;

void begin(const char* name, ImVec2 at, ImVec2 size, ImGuiWindowFlags flags = fixed) {
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::Begin(name, nullptr, flags);
}

/// The upper edge of a panel at the bottom, which can be dragged. Changes `height` [pixels], up to `most`.
void draw_edge(float& height, float present, float most) {
  const ImVec2 at = ImGui::GetCursorPos();
  ImGui::SetCursorPos({0, 0});
  ImGui::InvisibleButton("edge", {ImGui::GetWindowWidth(), 0.4f * ImGui::GetFontSize()});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    const ImVec2 corner = ImGui::GetWindowPos();
    ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + ImGui::GetWindowWidth(), corner.y + 2},
                                              theme::accent);
  }
  if (ImGui::IsItemActive())
    height = std::clamp(present - ImGui::GetIO().MouseDelta.y, std::min(em(20), most), most);
  ImGui::SetCursorPos(at);
}

/// Over the scene, also without panels: a video is in progress. The foreground is not part of pictures.
void draw_recording_mark(const FreeArea& free, const std::string& file) {
  if (file.empty()) return;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const float pad = em(1), line = ImGui::GetTextLineHeight(), radius = 0.32f * line;
  const std::string text = fit_text("recording " + file, free.right - free.left - 2 * radius - 5 * pad);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const ImVec2 to{free.right - pad, 2 * pad + line}, from{to.x - size.x - 2 * radius - 3 * pad, pad};
  list.AddRectFilled(from, to, IM_COL32(16, 18, 22, 220), 3);
  list.AddCircleFilled({from.x + pad + radius, 0.5f * (from.y + to.y)}, radius, theme::bad);
  list.AddText({from.x + 2 * (pad + radius), 0.5f * (from.y + to.y - line)}, theme::bad, text.c_str());
}

}  // namespace

FreeArea free_area(float width, float height, const ViewState& view) {
  FreeArea free{0, width, height, height, 0, 0, 0};
  if (view.panels) {
    // At least half of the width is left for the scene. Where two columns would be too narrow for their
    // texts, one has all panels.
    const bool beside = width / 4 >= em(kNarrowest);
    free.left = std::floor(std::min(em(44), width / (beside ? 4 : 2)));
    if (beside) free.right = width - free.left;
    free.panel_bottom = height - ImGui::GetTextLineHeight() - 2 * ImGui::GetStyle().WindowPadding.y;
    free.bottom = free.panel_bottom - ImGui::GetFrameHeight() - ImGui::GetStyle().WindowPadding.y;
    if (!beside) free.split = std::floor(0.5f * free.panel_bottom);
  }
  if (view.log) free.log_height = std::floor(std::min(em(18), 0.4f * free.bottom));
  if (view.lab) {
    const float wanted = view.lab_height > 0 ? view.lab_height : std::min(em(46), 0.45f * free.bottom);
    free.lab_height = std::floor(std::min(wanted, kMostCovered * free.bottom - free.log_height));
  }
  return free;
}

void draw_panels(PanelContext& context) {
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  const FreeArea free = free_area(window.x, window.y, context.view);
  draw_pane_captions(context);
  draw_gizmo(context);
  draw_hover_tip(context);
  draw_recording_mark(free, context.window.recording);
  if (context.view.panels) {
    const bool beside = free.split == 0;
    begin("left", {0, 0}, {free.left, beside ? free.panel_bottom : free.split}, beside_scene);
    draw_scene_panel(context);
    if (section("Run")) draw_transport_panel(context);
    draw_time_section(context);
    draw_forks_section(context);
    draw_presets_section(context);
    draw_parameters_panel(context);
    ImGui::End();
    if (beside) begin("right", {free.right, 0}, {window.x - free.right, free.panel_bottom}, beside_scene);
    else begin("right", {0, free.split}, {free.left, free.panel_bottom - free.split}, beside_scene);
    draw_view_panel(context);
    draw_add_panel(context);
    draw_selection_panel(context);
    draw_report_panel(context);
    ImGui::End();
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                        {ImGui::GetStyle().WindowPadding.x, 0.5f * ImGui::GetStyle().WindowPadding.y});
    begin("timeline", {free.left, free.bottom}, {free.right - free.left, free.panel_bottom - free.bottom},
          fixed | ImGuiWindowFlags_NoScrollbar);
    ImGui::PopStyleVar();
    draw_timeline(context);
    ImGui::End();
    begin("status", {0, free.panel_bottom}, {window.x, window.y - free.panel_bottom},
          fixed | ImGuiWindowFlags_NoScrollbar);
    draw_status_bar(context);
    ImGui::End();
  }
  // From the bottom up, over the scene.
  float bottom = free.bottom;
  const auto begin_below = [&](const char* name, float height) {
    bottom -= height;
    begin(name, {free.left, bottom}, {free.right - free.left, height});
  };
  if (context.view.log) {
    begin_below("log", free.log_height);
    draw_log_panel(context);
    ImGui::End();
  }
  if (context.view.lab) {
    float& height = context.view.lab_height;
    begin_below("lab", free.lab_height);
    draw_edge(height, ImGui::GetWindowHeight(), std::floor(kMostCovered * free.bottom - free.log_height));
    draw_lab_panel(context);
    ImGui::End();
  }
  if (context.view.help) draw_help_overlay(context);
}

}  // namespace stickslip
