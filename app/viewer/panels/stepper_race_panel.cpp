// Part of the lab: the race of steppers.
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr float kStepsWidth = 18;  // [em] of "100 steps each" and an arrow

void draw_race_settings(PanelContext& context) {
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
  same_line_within(em(kStepsWidth));
  ImGui::SetNextItemWidth(em(kStepsWidth));
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

/// By column: the names before the numbers are those of the titles.
std::vector<std::string> cells_of(const StepRun& run, int rank) {
  std::vector<std::string> cells{std::to_string(rank), run.stepper,
                                 name_of(run.end) + std::string(run.note.empty() ? "" : " *")};
  for (const StepRaceColumn& column : step_race_columns()) cells.push_back(column.text(run));
  return cells;
}

void draw_run(const StepRun& run, const std::vector<std::string>& cells) {
  ImGui::TableNextRow();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    ImGui::TableNextColumn();
    text_colored(c == 0 ? theme::dim_text : c == 2 ? color_of(run) : theme::text, cells[c]);
    if (c != 2) continue;
    const char* between = run.message.empty() || run.note.empty() ? "" : "\n";
    if (const std::string text = run.message + between + run.note; !text.empty()) tooltip(text);
  }
}

void draw_ranking(const StepperRaceStatus& status) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                                    ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                                    ImGuiTableFlags_PadOuterX;
  std::vector<const char*> titles{"", "stepper", "end"};
  for (const StepRaceColumn& column : step_race_columns()) titles.push_back(column.title);
  if (!ImGui::BeginTable("steppers", static_cast<int>(titles.size()), flags)) return;
  std::vector<std::vector<std::string>> rows;
  for (const StepRun& run : status.runs) rows.push_back(cells_of(run, static_cast<int>(rows.size()) + 1));
  ImGui::TableSetupScrollFreeze(2, 1);
  for (std::size_t c = 0; c < titles.size(); ++c) {
    std::vector<std::string> texts;
    texts.reserve(rows.size());
    for (const std::vector<std::string>& row : rows) texts.push_back(row[c]);
    fitted_column(titles[c], texts);
  }
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int c = 0; c < static_cast<int>(titles.size()); ++c) {
    ImGui::TableSetColumnIndex(c);
    ImGui::TableHeader(ImGui::TableGetColumnName(c));
    if (c >= 3) tooltip(step_race_columns()[static_cast<std::size_t>(c - 3)].meaning);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) draw_run(status.runs[r], rows[r]);
  ImGui::EndTable();
}

}  // namespace

void draw_stepper_race(PanelContext& context) {
  const StepperRaceStatus& status = context.steppers.status();
  draw_race_settings(context);
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
