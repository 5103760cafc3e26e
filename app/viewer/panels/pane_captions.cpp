// Over the panes of the run and its forks: what each of them shows.
#include <algorithm>
#include <cmath>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/picture_text.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr ImU32 kGround = IM_COL32(16, 18, 22, 200);

/// A caption's two lines and their place in a pane [px].
struct Layout {
  std::string first, second;
  ImU32 bar_color, second_color;
  float bar, width, height, line;  // of the bar at its left; of all; of a line
  ImVec2 text;                     // place of the first line
};

Layout layout_of(const PaneCaption& caption) {
  Layout out;
  out.first = caption.number == 0 ? "run" : "fork " + std::to_string(caption.number);
  if (!caption.settings.empty()) out.first += ": " + caption.settings;
  out.second = caption.result;
  if (caption.distance >= 0)
    out.second += (out.second.empty() ? "distance " : ", distance ") + si_text(caption.distance, "m");
  out.bar_color = caption.number == 0 ? theme::text : theme::wheel(caption.number);
  out.second_color = caption.is_good ? theme::dim_text : theme::warning;
  const float pad = em(0.6f);
  const float widest =
      std::max(ImGui::CalcTextSize(out.first.c_str()).x, ImGui::CalcTextSize(out.second.c_str()).x);
  out.bar = em(0.5f);
  out.line = ImGui::GetTextLineHeightWithSpacing();
  out.width = out.bar + widest + 2 * pad;
  out.height = (out.second.empty() ? 1 : 2) * out.line + pad;
  out.text = {out.bar + pad, 0.5f * pad};
  return out;
}

void draw_caption(const PaneCaption& caption, const PaneArea& area) {
  const Layout layout = layout_of(caption);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ImVec2 corner{static_cast<float>(area.x), static_cast<float>(area.y)};
  const auto at = [&](float x, float y) { return ImVec2{corner.x + x, corner.y + y}; };
  list.PushClipRect(corner, at(static_cast<float>(area.width), static_cast<float>(area.height)), true);
  list.AddRectFilled(corner, at(layout.width, layout.height), kGround);
  list.AddRectFilled(corner, at(layout.bar, layout.height), layout.bar_color);
  list.AddText(at(layout.text.x, layout.text.y), theme::text, layout.first.c_str());
  list.AddText(at(layout.text.x, layout.text.y + layout.line), layout.second_color, layout.second.c_str());
  list.PopClipRect();
}

}  // namespace

void draw_pane_captions(PanelContext& context) {
  if (context.panes.empty()) return;
  const std::vector<PaneCaption> captions = pane_captions(context.forks, context.simulation);
  for (std::size_t i = 0; i < std::min(captions.size(), context.panes.size()); ++i)
    draw_caption(captions[i], context.panes[i]);
}

void draw_pane_captions(Image& picture, std::span<const PaneCaption> captions,
                        std::span<const PaneArea> panes, float scale) {
  for (std::size_t i = 0; i < std::min(captions.size(), panes.size()); ++i) {
    const Layout layout = layout_of(captions[i]);
    const PaneArea& pane = panes[i];
    const auto area = [&](float width) {
      return PictureArea{
          pane.x, pane.y, pane.x + std::min(pane.width, static_cast<int>(std::lround(scale * width))),
          pane.y + std::min(pane.height, static_cast<int>(std::lround(scale * layout.height)))};
    };
    const PictureArea ground = area(layout.width);
    fill_area(picture, ground, kGround);
    fill_area(picture, area(layout.bar), layout.bar_color);
    const float x = static_cast<float>(pane.x) + scale * layout.text.x;
    const float y = static_cast<float>(pane.y) + scale * layout.text.y;
    draw_text(picture, x, y, layout.first, theme::text, scale, ground);
    draw_text(picture, x, y + scale * layout.line, layout.second, layout.second_color, scale, ground);
  }
}

}  // namespace stickslip
