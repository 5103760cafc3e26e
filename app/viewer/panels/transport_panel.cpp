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
  if (!ImGui::BeginCombo("##speed", shown)) return;
  for (const Speed& speed : speeds)
    if (ImGui::Selectable(speed.name, same(speed.pacing, simulation.pacing())))
      simulation.set_pacing(speed.pacing);
  ImGui::EndCombo();
}

/// Freeze, and the panel that shows what it took.
void draw_lab_buttons(PanelContext& context, const ImVec2& size) {
  const std::deque<StepReport>& history = context.simulation.history();
  const bool solved = !history.empty() && history.back().contact_solve;
  ImGui::BeginDisabled(!solved);
  if (action_button("Freeze",
                    "Take the last step's contact problem into the lab: a file, and a race of all solvers",
                    shortcut(ActionId::freeze), size))
    context.act(ActionId::freeze);
  if (!solved) tooltip("The last step was no contact problem at velocity level: that needs rigid bodies");
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (action_button(context.view.lab ? "Hide lab" : "Show lab", "Solvers on a frozen problem",
                    shortcut(ActionId::toggle_lab), size))
    context.act(ActionId::toggle_lab);
}

}  // namespace

void draw_transport_panel(PanelContext& context) {
  Simulation& simulation = context.simulation;
  const SimulationStatus& status = simulation.status();
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float width = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3;
  const ImVec2 size{std::floor(width), 0};
  ImGui::BeginDisabled(!status.loaded);
  if (action_button(status.playing ? "Pause" : "Play", "Play or pause", shortcut(ActionId::toggle_play),
                    size))
    context.act(ActionId::toggle_play);
  ImGui::SameLine();
  if (action_button("Step", "One time step, then pause", shortcut(ActionId::step), size))
    context.act(ActionId::step);
  ImGui::SameLine();
  if (action_button("Reset", "Back to the start; settings stay", shortcut(ActionId::reset), size))
    context.act(ActionId::reset);
  ImGui::EndDisabled();
  draw_speed(simulation);
  draw_lab_buttons(context, size);

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
