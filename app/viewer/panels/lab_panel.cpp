#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "app/io/report/race_rank.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

using State = RaceRun::State;

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string file_name(const RaceStatus& status) { return status.file.filename().string(); }

/// The problem of the race, and the command that repeats it.
void draw_problem(const RaceStatus& status) {
  const FrozenStep& step = *status.step;
  const std::size_t joints = step.problem.blocks() - step.problem.contacts();
  const std::string frame = step.is_of_file() ? "" : ", frame " + std::to_string(step.frame);
  std::string problem =
      step.scene + frame + ": " + counted(static_cast<long>(step.problem.contacts()), "contact");
  if (joints > 0) problem += ", " + counted(static_cast<long>(joints), "joint block");
  ImGui::TextWrapped("%s", problem.c_str());
  if (!step.is_of_file()) {
    const std::string text = "the step was solved by " + step.solver;
    same_line_for_text(text);
    text_colored(theme::dim_text, text);
  }
  if (!status.file.empty()) {
    const std::string command = "stickslip race " + file_name(status);
    text_colored(theme::dim_text, fit_text(command, ImGui::GetContentRegionAvail().x - em(8)));
    tooltip(status.file.string());
    ImGui::SameLine();
    if (ImGui::SmallButton("Copy")) ImGui::SetClipboardText(command.c_str());
  } else if (!status.note.empty()) {
    text_colored(theme::warning, fit_text("no file: " + status.note, ImGui::GetContentRegionAvail().x));
    tooltip(status.note);
  }
}

constexpr float kPickWidth = 11;  // [em]
constexpr float kNarrow = 105;    // [em] below which table and curves do not fit side by side

/// What is left of the lab. At least a few rows high: a low lab scrolls.
ImVec2 room_below() {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  return {room.x, std::max(room.y, em(16))};
}

template <std::size_t N>
void draw_pick(const char* id, double& value, const std::array<double, N>& values, const char* format,
               const char* meaning) {
  ImGui::SetNextItemWidth(kPickWidth * em(1));
  if (begin_choices(id, number(format, value))) {
    for (const double choice : values)
      if (ImGui::Selectable(number(format, choice).c_str(), choice == value)) value = choice;
    ImGui::EndCombo();
  } else {
    tooltip(meaning);
  }
}

void draw_settings(PanelContext& context) {
  RaceSettings& race = context.view.race;
  const RaceStatus& status = context.lab.status();
  if (action_button("Freeze", "Take the last step's contact problem and race on it",
                    shortcut(ActionId::freeze)))
    context.act(ActionId::freeze);
  same_line_for_button("Race again");
  if (status.running) {
    if (ImGui::Button("Cancel")) context.lab.cancel();
    tooltip("The solver that runs ends, the others are left out");
  } else {
    ImGui::BeginDisabled(!status.step);
    if (ImGui::Button("Race again")) context.lab.start(status.step, race);
    ImGui::EndDisabled();
    tooltip("On the problem at hand, with the settings to the right");
  }
  same_line_within(kPickWidth * em(1));
  draw_pick("##tolerance", race.tolerance, std::array{1e-3, 1e-4, 1e-6, 1e-8, 1e-10}, "to %.0e",
            "Residual that ends a solve");
  same_line_within(kPickWidth * em(1));
  draw_pick("##budget", race.time_budget, std::array{0.5, 2.0, 5.0, 20.0, 60.0}, "%g s each",
            "Time that each solver has");
  same_line_for("warm");
  ImGui::Checkbox("warm", &race.warm);
  tooltip("Start from what the step started from, instead of zero");
}

void draw_progress(const RaceStatus& status) {
  const auto done = std::ranges::count(status.runs, State::done, &RaceRun::state);
  const auto who = std::ranges::find(status.runs, State::running, &RaceRun::state);
  const std::string text = who == status.runs.end() ? "" : who->solver;
  ImGui::ProgressBar(static_cast<float>(done) / static_cast<float>(status.runs.size()),
                     {-1, ImGui::GetTextLineHeight() + 2}, text.c_str());
}

ImU32 color_of_end(const SolveReport& report) {
  if (report.converged) return theme::good;
  return report.end == SolveEnd::refused ? theme::dim_text : theme::warning;
}

/// Makes the scene take a contact solver for its next steps.
void take_solver(PanelContext& context, std::string_view name) {
  const ParamInfo &family = *find_param(param_table(), "solver"),
                  &solver = *find_param(param_table(), "contact_solver");
  const auto index = std::ranges::find(solver.choices, name) - solver.choices.begin();
  if (context.simulation.settings().params.solver != SolverKind::velocity)
    context.simulation.post(ParamEdit{family.name, static_cast<double>(SolverKind::velocity)});
  context.simulation.post(ParamEdit{solver.name, static_cast<double>(index)});
}

/// [px] Before the name of a solver: its colour and its rank.
float room_of_rank() { return 0.75f * ImGui::GetTextLineHeight() + em(3); }

/// Rank and name of a row; a click highlights its curve, a double click takes its solver.
void draw_solver(PanelContext& context, const RaceRun& run, int rank) {
  const float size = ImGui::GetTextLineHeight(), left = ImGui::GetCursorPosX();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled(
      {at.x, at.y + 0.35f * size}, {at.x + 0.6f * size, at.y + 0.65f * size}, theme::wheel(run.color));
  ImGui::Dummy({0.75f * size, size});
  ImGui::SameLine(0, 0);
  text_colored(theme::dim_text, run.state == State::done ? std::to_string(rank) : "");
  ImGui::SameLine(left + room_of_rank());
  std::string& chosen = context.view.lab_solver;
  if (ImGui::Selectable(run.solver.c_str(), chosen == run.solver,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
    const bool twice = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    chosen = chosen == run.solver && !twice ? "" : run.solver;
    if (twice) take_solver(context, run.solver);
  }
  tooltip("Click: highlight the curve. Double click: the scene goes on with this solver");
}

using RunCells = std::array<std::string, 5>;

/// What follows the name of a solver.
RunCells cells_of(const RaceRun& run, bool racing) {
  if (!run.report) return {run.state == State::running ? "running" : racing ? "waits" : "left out"};
  const SolveReport& report = *run.report;
  if (report.end == SolveEnd::refused) return {name_of(report.end)};
  const std::optional<double> rough = seconds_to(report, 1e-4);
  return {name_of(report.end), number("%.1e", report.judgement.residual), std::to_string(report.iterations),
          duration_text(report.seconds), rough ? duration_text(*rough) : "-"};
}

void draw_run(PanelContext& context, const RaceRun& run, int rank, const RunCells& cells) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_solver(context, run, rank);
  for (const std::string& cell : cells) {
    ImGui::TableNextColumn();
    const bool is_end = &cell == cells.data();
    text_colored(!is_end ? theme::text : run.report ? color_of_end(*run.report) : theme::dim_text, cell);
    if (is_end && run.report && !run.report->message.empty()) tooltip(run.report->message);
  }
}

/// The names stay in view while the other columns scroll; a right click on the titles hides columns.
void draw_ranking(PanelContext& context, const RaceStatus& status) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                                    ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                                    ImGuiTableFlags_PadOuterX | ImGuiTableFlags_Hideable;
  // Title and room that is kept for what comes: columns keep their places while solvers end.
  constexpr std::array<std::array<const char*, 2>, 5> columns{{{"end", "converged"},
                                                               {"residual", "8.8e-08"},
                                                               {"steps", "888888"},
                                                               {"time", "88.8 ms"},
                                                               {"to 1e-4", "88.8 ms"}}};
  if (!ImGui::BeginTable("ranking", 1 + static_cast<int>(columns.size()), flags, room_below())) return;
  std::vector<std::string> names;
  std::vector<RunCells> rows;
  for (const RaceRun& run : status.runs) {
    names.push_back(run.solver);
    rows.push_back(cells_of(run, status.running));
  }
  ImGui::TableSetupScrollFreeze(1, 1);
  fitted_column("solver", names, room_of_rank(), ImGuiTableColumnFlags_NoHide);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::string> texts{columns[c][1]};
    for (const RunCells& row : rows) texts.push_back(row[c]);
    fitted_column(columns[c][0], texts);
  }
  ImGui::TableHeadersRow();
  for (std::size_t r = 0; r < rows.size(); ++r)
    draw_run(context, status.runs[r], static_cast<int>(r) + 1, rows[r]);
  ImGui::EndTable();
}

/// The best residual up to each of `times`; NaN before the first check of the judge.
std::vector<float> best_at(const SolveReport& report, const std::vector<float>& times) {
  std::vector<float> values;
  values.reserve(times.size());
  auto next = report.history.begin();
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const float time : times) {
    for (; next != report.history.end() && next->seconds <= static_cast<double>(time); ++next)
      if (!(best <= next->residual)) best = next->residual;
    const bool over = next == report.history.end() && !report.history.empty() &&
                      static_cast<double>(time) > 1.1 * report.history.back().seconds;
    values.push_back(over ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(best));
  }
  return values;
}

/// Times in a geometric sequence, from the first check after the start to the last.
std::vector<float> times_of(const RaceStatus& status) {
  double first = 1, last = 0;
  for (const RaceRun& run : status.runs) {
    if (!run.report) continue;
    for (const HistoryPoint& point : run.report->history) {
      if (point.seconds > 0) first = std::min(first, point.seconds);
      last = std::max(last, point.seconds);
    }
  }
  first = std::max(first, 1e-6);
  if (last <= first) return {};
  constexpr int count = 240;
  std::vector<float> times;
  for (int i = 0; i <= count; ++i)
    times.push_back(
        static_cast<float>(first * std::pow(1.05 * last / first, static_cast<double>(i) / count)));
  return times;
}

/// Curves of all solvers; the chosen one is thick, and the others fade.
void draw_residuals(const RaceStatus& status, const std::string& chosen) {
  const std::vector<float> times = times_of(status);
  std::vector<PlotSeries> lines;
  const bool any = std::ranges::count(status.runs, chosen, &RaceRun::solver) > 0;
  for (const RaceRun& run : status.runs) {
    if (!run.report) continue;
    const bool fades = any && run.solver != chosen;
    lines.push_back({run.solver, theme::wheel(run.color), best_at(*run.report, times), false});
    lines.back().width = any && !fades ? 3.0f : 1.5f;
    if (fades) lines.back().color = (lines.back().color & ~IM_COL32_A_MASK) | (70u << IM_COL32_A_SHIFT);
  }
  lines.push_back({"tolerance", theme::dim_text,
                   std::vector<float>(times.size(), static_cast<float>(status.settings.tolerance)), false});
  draw_plot("residuals", room_below(), times, {"solving time, s", true}, lines,
            {"Best residual so far", true});
}

void draw_one_of_both(PanelContext& context) {
  bool& curves = context.view.lab_curves;
  if (ImGui::RadioButton("Table", !curves)) curves = false;
  same_line_for("Curves");
  if (ImGui::RadioButton("Curves", curves)) curves = true;
  tooltip("The best residual of each solver over time. A wider window shows it beside the table");
  if (curves) draw_residuals(context.lab.status(), context.view.lab_solver);
  else draw_ranking(context, context.lab.status());
}

}  // namespace

void draw_lab_panel(PanelContext& context) {
  LabView& view = context.view.lab_view;
  const auto choice = [&](const char* label, LabView which, const char* meaning) {
    if (ImGui::RadioButton(label, view == which)) view = which;
    tooltip(meaning);
  };
  choice("Contact solvers", LabView::contact_solvers, "All contact solvers on the problem of one step");
  same_line_for("Steppers");
  choice("Steppers", LabView::steppers, "All steppers from one state");
  same_line_for("Iterations");
  choice("Iterations", LabView::step, "The Newton iterations of one barrier step");
  same_line_for_button(view == LabView::steppers ? "Race steppers"
                       : view == LabView::step   ? "Next step"
                                                 : "Freeze");
  if (view == LabView::steppers) return draw_stepper_race(context);
  if (view == LabView::step) return draw_step_iterations(context);
  const RaceStatus& status = context.lab.status();
  draw_settings(context);
  if (!status.step) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled("No problem yet: Freeze takes that of the last step.");
    ImGui::PopTextWrapPos();
    return;
  }
  draw_problem(status);
  if (!status.error.empty()) text_colored(theme::bad, status.error);
  if (status.running) draw_progress(status);
  draw_iterations(context);
  if (ImGui::GetContentRegionAvail().x < em(kNarrow)) return draw_one_of_both(context);
  // Table and plot, with a border between them that can be dragged.
  if (!ImGui::BeginTable("halves", 2, ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerV)) return;
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 0.6f);
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 0.4f);
  ImGui::TableNextColumn();
  draw_ranking(context, status);
  ImGui::TableNextColumn();
  draw_residuals(status, context.view.lab_solver);
  ImGui::EndTable();
}

}  // namespace stickslip
