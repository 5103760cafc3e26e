#include <algorithm>

#include "app/viewer/gizmo_tool.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

// Of the axes x, y and z: vermilion, yellow and sky blue differ in lightness, too, and letters name the axes.
constexpr ImU32 kAxisColors[] = {IM_COL32(213, 94, 0, 255), IM_COL32(240, 228, 66, 255),
                                 IM_COL32(86, 180, 233, 255)};
constexpr ImU32 kLit = IM_COL32(255, 255, 255, 255), kBorder = IM_COL32(16, 18, 22, 190);
constexpr float kArrow = 14;  // [em]

void draw_line(ImDrawList& list, const std::vector<ImVec2>& points, ImU32 color, float width) {
  const int count = static_cast<int>(points.size());
  list.AddPolyline(points.data(), count, kBorder, ImDrawFlags_None, width + 2);
  list.AddPolyline(points.data(), count, color, ImDrawFlags_None, width);
}

/// On the screen, where y points down.
bool is_counterclockwise(const std::vector<ImVec2>& points) {
  float twice_area = 0;
  for (std::size_t i = 0, j = points.size() - 1; i < points.size(); j = i++)
    twice_area += points[j].x * points[i].y - points[i].x * points[j].y;
  return twice_area < 0;
}

/// Beside a point, on a ground of its own.
void draw_label(ImDrawList& list, const ImVec2& at, const std::string& text) {
  const ImVec2 size = ImGui::CalcTextSize(text.c_str()), pad = ImGui::GetStyle().FramePadding;
  const ImVec2 from{at.x + em(1.5f), at.y + em(0.5f)};
  list.AddRectFilled({from.x - pad.x, from.y - pad.y}, {from.x + size.x + pad.x, from.y + size.y + pad.y},
                     kBorder, 3);
  list.AddText(from, theme::text, text.c_str());
}

}  // namespace

void draw_gizmo(PanelContext& context) {
  GizmoTool& gizmo = context.gizmo;
  const bool is_shown = context.view.gizmo && context.view.selection;
  gizmo.aim(is_shown ? std::optional(context.view.selection->object()) : std::nullopt, em(kArrow));
  gizmo.set_snapping(ImGui::GetIO().KeyCtrl);
  if (!is_shown) return;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const bool is_under_panel = ImGui::GetIO().WantCaptureMouse && !gizmo.is_dragging();
  const GizmoPart lit = is_under_panel ? GizmoPart::none : gizmo.highlighted();
  for (const GizmoStroke& stroke : gizmo.strokes()) {
    if (gizmo.is_dragging() && stroke.part != lit) continue;
    const int axis = axis_of(stroke.part);
    const bool is_possible = gizmo.refusal(stroke.part).empty();
    const ImU32 color = stroke.part == lit ? kLit : is_possible ? kAxisColors[axis] : theme::dim_text;
    std::vector<ImVec2> points;
    points.reserve(stroke.points.size());
    for (const auto& at : stroke.points) points.push_back({at[0], at[1]});
    if (!stroke.is_filled) {
      draw_line(list, points, color, stroke.part == lit ? 3.5f : 2.5f);
      continue;
    }
    const bool is_plane = kind_of(stroke.part) == GizmoKind::plane;
    const ImU32 fill =
        is_plane && stroke.part != lit ? (color & ~IM_COL32_A_MASK) | IM_COL32(0, 0, 0, 150) : color;
    if (is_counterclockwise(points)) std::ranges::reverse(points);  // ImGui fills what is clockwise
    list.AddConvexPolyFilled(points.data(), static_cast<int>(points.size()), fill);
    list.AddPolyline(points.data(), static_cast<int>(points.size()), kBorder, ImDrawFlags_Closed, 1);
    if (is_plane) continue;
    const char letter[] = {"XYZ"[axis], 0};
    const ImVec2 size = ImGui::CalcTextSize(letter), tip{stroke.points.front()[0], stroke.points.front()[1]};
    list.AddText({tip.x - 0.5f * size.x + 1, tip.y - size.y + 1}, kBorder, letter);
    list.AddText({tip.x - 0.5f * size.x, tip.y - size.y}, color, letter);
  }
  const std::string text = is_under_panel ? "" : gizmo.text();
  if (!text.empty()) draw_label(list, {gizmo.pointer()[0], gizmo.pointer()[1]}, text);
}

}  // namespace stickslip
