// Part of the lab: the race of steppers.
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

void draw_settings(PanelContext& context) {
  const StepperRaceStatus& status = context.steppers.status();
  if (action_button("Race steppers", "All steppers from the present state of the scene, in the background",
                    shortcut(ActionId::race_steppers)))
    context.act(ActionId::race_steppers);
  same_line_for_button("Race again");
  if (status.running) {
    if (ImGui::Button("Cancel")) context.steppers.cancel();
    tooltip("The stepper that runs ends, the others are left out");
  } else {
    ImGui::BeginDisabled(!status.state);
    if (ImGui::Button("Race again")) context.steppers.start(status.state, context.view.stepper_race);
    ImGui::EndDisabled();
    tooltip("From the state at hand, with the settings to the right");
  }
  same_line_within(em(11));
  ImGui::SetNextItemWidth(em(11));
  constexpr int choices[] = {1, 3, 10, 30, 100};
  int& steps = context.view.stepper_race.steps;
  if (begin_choices("##steps", std::to_string(steps) + " steps each")) {
    for (const int choice : choices)
      if (ImGui::Selectable((std::to_string(choice) + " steps each").c_str(), choice == steps))
        steps = choice;
    ImGui::EndCombo();
  }
}

ImU32 color_of(const StepRun& run) {
  if (run.end != StepRun::End::finished) return theme::dim_text;
  return run.converged == run.steps ? theme::good : theme::warning;
}

void draw_run(const StepRun& run, int rank) {
  ImGui::TableNextRow();
  const auto cell = [](ImU32 color, const std::string& text) {
    ImGui::TableNextColumn();
    text_colored(color, text);
  };
  cell(theme::dim_text, std::to_string(rank));
  cell(theme::text, run.stepper);
  cell(color_of(run), name_of(run.end) + std::string(run.note.empty() ? "" : " *"));
  const char* between = run.message.empty() || run.note.empty() ? "" : "\n";
  if (const std::string text = run.message + between + run.note; !text.empty()) tooltip(text);
  for (const StepRaceColumn& column : step_race_columns()) cell(theme::text, column.text(run));
}

void draw_ranking(const StepperRaceStatus& status) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                                    ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                                    ImGuiTableFlags_PadOuterX;
  const int columns = 3 + static_cast<int>(step_race_columns().size());
  if (!ImGui::BeginTable("steppers", columns, flags)) return;
  ImGui::TableSetupScrollFreeze(2, 1);
  for (const char* title : {"", "stepper", "end"}) ImGui::TableSetupColumn(title);
  for (const StepRaceColumn& column : step_race_columns()) ImGui::TableSetupColumn(column.title);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int c = 0; c < columns; ++c) {
    ImGui::TableSetColumnIndex(c);
    ImGui::TableHeader(ImGui::TableGetColumnName(c));
    if (c >= 3) tooltip(step_race_columns()[static_cast<std::size_t>(c - 3)].meaning);
  }
  int rank = 0;
  for (const StepRun& run : status.runs) draw_run(run, ++rank);
  ImGui::EndTable();
}

}  // namespace

void draw_stepper_race(PanelContext& context) {
  const StepperRaceStatus& status = context.steppers.status();
  draw_settings(context);
  if (!status.state) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled("No race yet: Race steppers takes the present state.");
    ImGui::PopTextWrapPos();
    return;
  }
  const CapturedState& state = *status.state;
  ImGui::Text("%s, frame %d, %d steps each", state.scene.c_str(), state.start.state.frame, status.steps);
  const std::string made = "the state was made by " + state.solver;
  same_line_for_text(made);
  text_colored(theme::dim_text, made);
  if (!status.error.empty()) text_colored(theme::bad, status.error);
  if (status.running && !status.waiting.empty()) {
    const auto all = static_cast<float>(status.runs.size() + status.waiting.size());
    ImGui::ProgressBar(static_cast<float>(status.runs.size()) / all, {-1, ImGui::GetTextLineHeight() + 2},
                       status.waiting.front().c_str());
  }
  draw_ranking(status);
}

}  // namespace stickslip
