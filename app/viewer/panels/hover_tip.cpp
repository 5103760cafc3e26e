// Numbers of what is under the pointer, in a box beside it.
#include <algorithm>

#include "app/viewer/hover.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr float kGap = 2.5f;  // [em] from the pointer: a mark is smaller

void draw_box(const HoverText& text, const ImVec2& at, const TipArea& area) {
  float names = 0, values = 0;
  for (const auto& [name, value] : text.rows) {
    names = std::max(names, ImGui::CalcTextSize(name.c_str()).x);
    values = std::max(values, ImGui::CalcTextSize(value.c_str()).x);
  }
  const float column = names + em(2), line = ImGui::GetTextLineHeightWithSpacing();
  const ImVec2 pad = ImGui::GetStyle().WindowPadding;
  const ImVec2 size{std::max(column + values, ImGui::CalcTextSize(text.title.c_str()).x) + 2 * pad.x,
                    line * static_cast<float>(text.rows.size() + 1) + 2 * pad.y};
  const Vec<float, 2> corner = place_tip({at.x, at.y}, {size.x, size.y}, area, em(kGap));
  const ImVec2 from{corner[0], corner[1]}, to{from.x + size.x, from.y + size.y};
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  list.AddRectFilled(from, to, ImGui::GetColorU32(ImGuiCol_PopupBg), 3);
  list.AddRect(from, to, ImGui::GetColorU32(ImGuiCol_Border), 3);
  ImVec2 place{from.x + pad.x, from.y + pad.y};
  list.AddText(place, theme::text, text.title.c_str());
  for (std::size_t k = 0; k < text.rows.size(); ++k) {
    place.y += line;
    const auto& [name, value] = text.rows[k];
    const bool is_mapped = k == 0 && text.first_is_mapped;
    list.AddText(place, is_mapped ? theme::accent : theme::dim_text, name.c_str());
    list.AddText({place.x + column, place.y}, theme::text, value.c_str());
  }
}

}  // namespace

void draw_hover_tip(PanelContext& context) {
  const std::shared_ptr<const Scene>& scene = context.simulation.frame().scene;
  const std::optional<Hovered>& hovered = context.hovered;
  if (!scene || !(hovered || context.drag) || !ImGui::IsMousePosValid()) return;
  const FreeArea free = free_area(ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y, context.view);
  const TipArea area{free.left, 0, free.right, free.scene_bottom()};
  if (context.drag) {
    const double stiffness = context.simulation.settings().params.drag_stiffness;
    return draw_box(describe(*context.drag, stiffness), ImGui::GetMousePos(), area);
  }
  const ImVec2 at{hovered->at[0], hovered->at[1]};
  if (hovered->contact)
    return draw_box(describe(*hovered->contact, scene->model, context.view.scale, context.window.error_limit),
                    at, area);
  if (!hovered->pick) return;
  const SurfaceColorsInfo& colors = surface_colors_table()[static_cast<std::size_t>(context.view.surfaces)];
  const std::optional<double> value =
      heat_value(colors, context.layers.shown_heat(), context.layers.least_heat(), context.layers.most_heat(),
                 *hovered->pick);
  const Object& object = scene->model.objects[static_cast<std::size_t>(hovered->pick->object)];
  if (value) draw_box(describe(colors, *value, object.name), at, area);
}

}  // namespace stickslip
