// The section about forks: what each of them has of its own, and how far it is from the run.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// "mu 0.3 / 0.5" and the like, "the same settings", or why it ended.
void draw_difference(const Forks::Entry& entry, const Simulation& simulation) {
  const ForkStatus& status = entry.fork->status();
  if (!status.error.empty()) {
    text_colored(theme::bad, "ended");
    tooltip(status.error);
    return;
  }
  const std::string text = differing_settings(entry.fork->from(), simulation.settings());
  text_colored(text.empty() ? theme::dim_text : theme::text, text.empty() ? "the same settings" : text);
  if (!text.empty())
    tooltip("Settings of the fork / of the run:\n" +
            differing_settings(entry.fork->from(), simulation.settings(), 20));
}

/// Returns the number of a fork that is to go.
std::optional<int> draw_rows(PanelContext& context) {
  std::optional<int> removed;
  if (context.forks.empty()) return removed;
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_SizingFixedFit;
  if (!ImGui::BeginTable("forks", 4, flags)) return removed;
  ImGui::TableSetupColumn("swatch");
  ImGui::TableSetupColumn("settings", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("distance");
  ImGui::TableSetupColumn("remove");
  const int frame = context.simulation.frame().snapshot.frame;
  for (const Forks::Entry& entry : context.forks.entries()) {
    ImGui::PushID(entry.number);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float size = ImGui::GetFrameHeight();
    ImGui::GetWindowDrawList()->AddRectFilled(
        {at.x, at.y + 0.3f * size}, {at.x + 0.8f * size, at.y + 0.7f * size}, theme::wheel(entry.number));
    ImGui::Dummy({0.8f * size, size});
    tooltip("Forked at frame " + std::to_string(entry.fork->start()));
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    draw_difference(entry, context.simulation);
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    const auto distance = entry.distances.find(frame);
    const bool known = distance != entry.distances.end();
    text_colored(known ? theme::text : theme::dim_text, known ? si_text(distance->second.mean, "m") : "-");
    if (known)
      tooltip("Root mean square distance of all nodes that can move, at the frame shown; the largest is " +
              si_text(distance->second.largest, "m"));
    ImGui::TableNextColumn();
    if (ImGui::Button("x")) removed = entry.number;
    tooltip("Ends this fork");
    ImGui::PopID();
  }
  ImGui::EndTable();
  return removed;
}

/// The distances of all forks over the time of the run.
void draw_distances(const Forks& forks) {
  std::map<int, float> times;
  for (const Forks::Entry& entry : forks.entries())
    for (const auto& [frame, distance] : entry.distances) times[frame] = static_cast<float>(distance.time);
  if (times.size() < 2) return;
  std::vector<float> x;
  x.reserve(times.size());
  for (const auto& [frame, time] : times) x.push_back(time);
  std::deque<std::string> names;  // the lines refer to them
  std::vector<PlotSeries> lines;
  for (const Forks::Entry& entry : forks.entries()) {
    names.push_back("fork " + std::to_string(entry.number));
    lines.push_back({names.back(), theme::wheel(entry.number), {}});
    for (const auto& [frame, time] : times) {
      const auto found = entry.distances.find(frame);
      lines.back().values.push_back(found == entry.distances.end() || !(found->second.mean > 0)
                                        ? std::numeric_limits<float>::quiet_NaN()
                                        : static_cast<float>(found->second.mean));
    }
  }
  draw_plot("distances", {ImGui::GetContentRegionAvail().x, em(12)}, x, {"time, s"}, lines,
            {"Distance, m", true});
}

/// A fork with other velocities; the next one gets the next seed.
void draw_seed(PanelContext& context) {
  ForkState& next = context.view.seeded;
  ImGui::BeginDisabled(!context.simulation.status().loaded);
  if (ImGui::Button("Fork with seed")) {
    context.simulation.post(next);
    ++next.seed;
  }
  ImGui::EndDisabled();
  tooltip(
      "A fork with small random changes of its velocities. If its distance grows by the same factor in equal "
      "times, the run is chaotic");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em(9));
  int seed = static_cast<int>(next.seed);
  if (ImGui::InputInt("##seed", &seed)) next.seed = static_cast<std::uint64_t>(std::max(1, seed));
  tooltip("Seed: the same one makes the same changes");
  same_line_within(em(12));
  ImGui::SetNextItemWidth(em(12));
  constexpr double choices[] = {1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1};
  const auto text = [](double size) { return tick_text(size) + " m/s"; };
  if (!begin_choices("##size", text(next.size))) return;
  for (const double size : choices)
    if (ImGui::Selectable(text(size).c_str(), size == next.size)) next.size = size;
  ImGui::EndCombo();
}

void draw_fork_view(ViewState& view) {
  constexpr std::array<const char*, 3> names = {"Hidden", "Outlines", "Panes"};
  ImGui::SetNextItemWidth(em(11));
  const bool open = begin_choices("##fork view", names[static_cast<std::size_t>(view.fork_view)]);
  if (!open)
    return tooltip("How forks are shown: as outlines over the run, or in panes beside it. " +
                   shortcut(ActionId::fork_panes) + " switches between both");
  for (std::size_t i = 0; i < names.size(); ++i)
    if (ImGui::Selectable(names[i], static_cast<std::size_t>(view.fork_view) == i))
      view.fork_view = static_cast<ForkView>(i);
  ImGui::EndCombo();
}

}  // namespace

void draw_forks_section(PanelContext& context) {
  if (!section("Forks", !context.forks.empty())) return;
  if (action_button("Fork", std::string(action_table()[static_cast<std::size_t>(ActionId::fork)].meaning),
                    shortcut(ActionId::fork)))
    context.act(ActionId::fork);
  ImGui::SameLine();
  if (context.forks.empty()) {
    ImGui::PushTextWrapPos();
    text_colored(theme::dim_text, "compares a change with what would have been");
    ImGui::PopTextWrapPos();
  } else {
    draw_fork_view(context.view);
  }
  draw_seed(context);
  if (const std::optional<int> removed = draw_rows(context)) context.forks.remove(*removed);
  draw_distances(context.forks);
  draw_sweep(context);
}

}  // namespace stickslip
