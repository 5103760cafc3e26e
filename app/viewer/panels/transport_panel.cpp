#include <algorithm>
#include <array>
#include <cmath>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

struct Speed {
  const char* name;
  Pacing pacing;
};
constexpr std::array<Speed, 6> speeds{{{"real time x 0.1", {true, 0.1}},
                                       {"real time x 0.25", {true, 0.25}},
                                       {"real time x 0.5", {true, 0.5}},
                                       {"real time", {true, 1}},
                                       {"real time x 2", {true, 2}},
                                       {"as fast as it can", {false, 1}}}};

bool same(const Pacing& a, const Pacing& b) {
  return a.real_time == b.real_time && (!a.real_time || a.speed == b.speed);
}

void draw_speed(Simulation& simulation) {
  const char* shown = "";
  for (const Speed& speed : speeds)
    if (same(speed.pacing, simulation.pacing())) shown = speed.name;
  ImGui::SetNextItemWidth(-1);
  if (!begin_choices("##speed", shown)) return;
  for (const Speed& speed : speeds)
    if (ImGui::Selectable(speed.name, same(speed.pacing, simulation.pacing())))
      simulation.set_pacing(speed.pacing);
  ImGui::EndCombo();
}

/// The button of an action, greyed with the reason if the action has no target. `label` replaces the row's
/// label.
void draw_action(PanelContext& context, ActionId id, const ImVec2& size, std::string_view label = {}) {
  const Action& action = action_table()[static_cast<std::size_t>(id)];
  const std::string reason = inactive_reason(id, context.simulation);
  ImGui::BeginDisabled(!reason.empty());
  if (action_button(std::string(label.empty() ? action.label : label).c_str(), std::string(action.meaning),
                    shortcut(id), size))
    context.act(id);
  if (!reason.empty()) tooltip(reason);
  ImGui::EndDisabled();
}

/// What stopped the run, and what to do about it.
void draw_fault(PanelContext& context, const ImVec2& size) {
  const SimulationStatus& status = context.simulation.status();
  if (status.tripped.empty() && status.error.empty()) return;
  ImGui::PushTextWrapPos();
  if (status.error.empty()) text_colored(theme::warning, status.tripped);
  else text_colored(theme::bad, status.error);
  ImGui::PopTextWrapPos();
  if (status.tripped.empty() && !status.faulty) return;  // a refused edit left all as it was
  draw_action(context, ActionId::recover, size);
  ImGui::SameLine();
  draw_action(context, ActionId::freeze, size);
}

/// The replay of a journal that runs, or how the last one ended.
void draw_replay(ReplayShown& replay) {
  if (replay.text.empty()) return;
  ImGui::PushTextWrapPos();
  text_colored(replay.faulty ? theme::warning : theme::good, replay.text);
  ImGui::PopTextWrapPos();
  if (ImGui::Button(replay.running ? "Stop replay" : "Dismiss"))
    replay.running ? void(replay.stopped = true) : replay.text.clear();
}

}  // namespace

void draw_transport_panel(PanelContext& context) {
  Simulation& simulation = context.simulation;
  const SimulationStatus& status = simulation.status();
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float width = (ImGui::GetContentRegionAvail().x - 3 * gap) / 4;
  const ImVec2 size{std::floor(width), 0};
  // In a narrow window labels need the room of the padding.
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  const float spare = 0.5f * (size.x - ImGui::CalcTextSize("Reset all").x);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {std::clamp(spare, 0.f, padding.x), padding.y});
  draw_action(context, ActionId::toggle_play, size, status.playing ? "Pause" : "");
  ImGui::SameLine();
  draw_action(context, ActionId::step, size);
  ImGui::SameLine();
  draw_action(context, ActionId::reset, size);
  ImGui::SameLine();
  draw_action(context, ActionId::reset_all, size);
  ImGui::PopStyleVar();
  draw_speed(simulation);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {std::clamp(spare, 0.f, padding.x), padding.y});
  draw_action(context, ActionId::freeze, size);
  ImGui::SameLine();
  draw_action(context, ActionId::toggle_lab, size, context.view.lab ? "Hide lab" : "Show lab");
  ImGui::SameLine();
  draw_action(context, ActionId::keep_state, size);
  ImGui::SameLine();
  draw_action(context, ActionId::return_to_kept, size);
  ImGui::PopStyleVar();
  draw_fault(context, size);
  draw_replay(context.view.replay);

  const Snapshot& snapshot = simulation.frame().snapshot;
  const float column = em(16);
  value_row("Frame", column, "%d", snapshot.frame);
  value_row("Time", column, "%.3f s", snapshot.time);
  if (status.step_seconds > 0) {
    value_row("Step", column, "%s", duration_text(status.step_seconds).c_str());
    const double factor = status.steps_per_second * simulation.settings().params.dt;
    value_row("Speed", column, "%.1f steps/s, %.2f x real time", status.steps_per_second, factor);
  } else {
    value_row("Step", column, "-");
    value_row("Speed", column, "-");
  }
}

}  // namespace stickslip
