// Plots of the contacts and objects that are tracked.
#include <limits>
#include <vector>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr float kPlotHeight = 15;  // [em]

/// Names in the colours of their lines.
void draw_names(const TrackedProbes& tracked) {
  for (std::size_t i = 0; i < tracked.size(); ++i) text_colored(theme::wheel(i), tracked.name(i));
}

/// The same, with a button to end each.
void draw_names_to_end(TrackedProbes& tracked) {
  for (std::size_t i = 0; i < tracked.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const bool ends = ImGui::SmallButton("x");
    tooltip("Track it no longer");
    ImGui::SameLine();
    text_colored(theme::wheel(i), fit_text(tracked.name(i), ImGui::GetContentRegionAvail().x));
    ImGui::PopID();
    if (ends) return tracked.untrack(i);
  }
}

void draw_quantity(const TrackedProbes& tracked, std::size_t quantity, std::size_t rows,
                   const std::vector<float>& times) {
  const auto& [kind, title] = TrackedProbes::kQuantities[quantity];
  std::vector<PlotSeries> lines;
  for (std::size_t i = 0; i < tracked.size(); ++i) {
    if (tracked.kind(i) != kind) continue;
    lines.push_back({tracked.name(i), theme::wheel(i), {}, false});
    for (std::size_t r = 0; r < rows; ++r)
      lines.back().values.push_back(static_cast<float>(tracked.rows()[r].values[i][quantity]));
  }
  if (lines.empty()) return;
  draw_plot(title.data(), {ImGui::GetContentRegionAvail().x, em(kPlotHeight)}, times, {"time, s"}, lines,
            {title});
}

}  // namespace

void draw_tracked_section(PanelContext& context) {
  const std::optional<HeldPlots>& held = context.view.held;
  const TrackedProbes& tracked = held ? held->tracked : context.view.tracked;
  if (tracked.empty() || !section("Tracked")) return;
  if (held) draw_names(tracked);
  else draw_names_to_end(context.view.tracked);
  // Later rows are those of a future to which the timeline can return.
  const int last = held ? std::numeric_limits<int>::max() : context.simulation.status().frame;
  std::vector<float> times;
  for (const TrackedProbes::Row& row : tracked.rows())
    if (row.frame <= last) times.push_back(static_cast<float>(row.time));
  if (times.empty()) {
    text_colored(theme::dim_text, "No step yet.");
    return;
  }
  for (std::size_t q = 0; q < TrackedProbes::kQuantities.size(); ++q)
    draw_quantity(tracked, q, times.size(), times);
  const Action& save = action_table()[static_cast<std::size_t>(ActionId::save_plots)];
  if (action_button(save.label.data(), std::string(save.meaning), shortcut(save.id))) context.act(save.id);
}

}  // namespace stickslip
