#include <algorithm>
#include <numeric>
#include <vector>

#include "app/viewer/panels/history_plots.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// Whether steps of this kind have the stage at all. Those of the velocity level have a linear solve, CCD or
/// a check only where the scene needs them.
bool has_stage(const StageTimes& times, const StageColumn& stage, bool velocity) {
  if (times.*stage.seconds > 0) return true;
  if (stage.seconds == &StageTimes::check) return false;
  if (stage.seconds == &StageTimes::contact_solve) return velocity;
  return !velocity || (stage.seconds != &StageTimes::linear_solve && stage.seconds != &StageTimes::ccd &&
                       stage.seconds != &StageTimes::line_search);
}

/// One bar per stage; the longest has the full width.
void draw_stages(const StepReport& report) {
  const StageTimes& times = report.seconds;
  double longest = 1e-9;
  for (const StageColumn& stage : stage_columns()) longest = std::max(longest, times.*stage.seconds);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight(), begin = em(15),
              end = ImGui::GetContentRegionAvail().x - em(11);
  for (const StageColumn& stage : stage_columns()) {
    if (!has_stage(times, stage, report.contact_solve.has_value())) continue;
    const double seconds = times.*stage.seconds;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_colored(theme::dim_text, stage.name);
    const float share = static_cast<float>(seconds / longest);
    const ImVec2 low{at.x + begin, at.y + 0.2f * line}, high{at.x + end, at.y + 0.8f * line};
    list.AddRectFilled(low, high, theme::bar_background, 2);
    list.AddRectFilled(low, {low.x + share * (high.x - low.x), high.y}, stage.color, 2);
    ImGui::SameLine(end + em(2));
    ImGui::Text("%s", duration_text(seconds).c_str());
  }
}

void draw_numbers(const StepReport& report) {
  const float column = em(16);
  value_row("Newton", column, "%s", counted(report.newton_iterations, "iteration").c_str());
  value_row("PCG", column, "%s", counted(report.pcg_iterations, "iteration").c_str());
  value_row("Ended by", column, "%s", "");
  ImGui::SameLine(column);
  text_colored(report.converged ? theme::good : theme::warning,
               report.stop_reason.empty() ? "-" : report.stop_reason);
  value_row("Contacts", column, "%d of %d pairs", report.contacts, report.candidates);
  tooltip("Pairs closer than d_hat, and pairs that might have become so");
  if (report.augmented > 0)
    value_row("Multipliers", column, "%d, at most %s", report.augmented,
              si_text(report.multiplier_max, "N").c_str());
  else value_row("Multipliers", column, "none");
  if (report.contact_limit_exceeded || report.contact_limit_halvings > 0) {
    value_row("Contact limit", column, "%s", "");
    ImGui::SameLine(column);
    if (report.contact_limit_exceeded) text_colored(theme::bad, "exceeded at the start");
    else text_colored(theme::warning, std::to_string(report.contact_limit_halvings) + " steps halved");
  }
  if (report.body_strain >= 0) value_row("Body strain", column, "%.2g", report.body_strain);
  if (report.joint_residual >= 0)
    value_row("Joint error", column, "%s", si_text(report.joint_residual, "m").c_str());
  value_row("Smallest gap", column, "%s", report.gap_min < 0 ? "-" : si_text(report.gap_min, "m").c_str());
  value_row("Smallest volume", column, "%.3g of rest", report.volume_ratio_min);
  tooltip("Of an element, at the end of the step");
  value_row("Barrier sigma", column, "%s", si_text(report.barrier_stiffness, "N/m").c_str());
  tooltip("Stiffness of the barrier at the end of the step");
  value_row("Memory", column, "%s", si_text(static_cast<double>(report.memory_bytes), "B").c_str());
  if (report.intersections >= 0) {
    value_row("Intersections", column, "%s", "");
    ImGui::SameLine(column);
    text_colored(report.intersections == 0 ? theme::good : theme::bad, std::to_string(report.intersections));
  }
}

void draw_convergence(const StepReport& report) {
  using Step = NewtonRecord;
  std::vector<float> iterations(report.newton.size());
  std::iota(iterations.begin(), iterations.end(), 1.0f);
  const auto draw = [&](const PlotAxis& y, float height, std::initializer_list<Curve<Step>> curves) {
    draw_curves<Step>(y, height, report.newton, iterations, "Newton iteration", curves);
  };
  draw({"Residuals of the last step", true}, 19,
       {{"gradient, N", theme::series[0], [](const Step& r) { return r.gradient_norm; }},
        {"step, m/s", theme::series[1], [](const Step& r) { return r.step_norm; }},
        {"PCG, relative", theme::series[2], [](const Step& r) { return r.pcg_residual; }}});
  draw({"PCG iterations", false, true}, 14,
       {{"", theme::series[2], [](const Step& r) { return static_cast<double>(r.pcg_iterations); }}});
  draw({"Contacts", false, true}, 17,
       {{"active |A|", theme::series[5], [](const Step& r) { return static_cast<double>(r.contacts); }},
        {"with multiplier |A'|", multiplier_line,
         [](const Step& r) { return static_cast<double>(r.augmented); }}});
  draw({"Smallest gap, m", true}, 14, {{"", theme::series[3], [](const Step& r) { return r.gap_min; }}});
  draw({"Barrier sigma, N/m", true}, 14,
       {{"", theme::series[4], [](const Step& r) { return r.barrier_stiffness; }}});
}

void draw_groups(const StepReport& report) {
  if (report.groups.empty()) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled(
        "The last step sorted no nodes: only PCG's warm start and the criteria (ii) and (iii) do.");
    ImGui::PopTextWrapPos();
    return;
  }
  std::vector<Bar> bars;
  bars.reserve(report.groups.size());
  for (const StiffnessGroup& group : report.groups)
    bars.push_back({"1e" + std::to_string(group.exponent), static_cast<double>(group.nodes)});
  draw_bars("groups", {ImGui::GetContentRegionAvail().x, em(17)}, "Nodes by stiffness, N/m", bars,
            theme::series[0]);
}

void draw_pattern_section(PanelContext& context) {
  const SimulationFrame& frame = context.simulation.frame();
  if (frame.scene)
    draw_matrix_pattern(frame.scene->model, frame.snapshot.contacts, context.view.pattern_swept);
}

/// Why there is no matrix where it is empty.
const char* missing_matrix(const SimulationFrame& frame, bool velocity) {
  const auto is_elastic = [](const Object& object) { return object.is_deformable() || object.is_affine(); };
  if (velocity && std::ranges::none_of(frame.scene->model.objects, is_elastic))
    return "Rigid bodies have no such matrix at velocity level: their masses and contacts are in W.";
  return "No step led to this state.";
}

void draw_matrix_section(PanelContext& context, bool velocity) {
  context.view.matrix_shown = section("Matrix D + L + C", false);
  const SimulationFrame& frame = context.simulation.frame();
  if (!context.view.matrix_shown || !frame.scene) return;
  draw_matrix_parts(frame.snapshot.matrix, missing_matrix(frame, velocity));
}

void draw_save(PanelContext& context, ActionId id) {
  const Action& save = action_table()[static_cast<std::size_t>(id)];
  if (action_button(save.label.data(), std::string(save.meaning), shortcut(id))) context.act(id);
}

void draw_energies(PanelContext& context, const std::deque<StepReport>& history) {
  draw_history(HistoryPlots::energy, history);
  draw_energy_balance(history);
  tooltip(
      "Unexplained: stored - work + dissipated. Above 0, steps created energy; below 0, damping and impacts "
      "took it");
  draw_save(context, ActionId::save_plots);
}

/// A button that pauses plots, or lets them follow the run again.
void draw_pause(PanelContext& context) {
  const bool held = context.view.held.has_value();
  const Action& pause = action_table()[static_cast<std::size_t>(ActionId::pause_plots)];
  if (action_button(held ? "Resume plots" : pause.label.data(), std::string(pause.meaning),
                    shortcut(pause.id)))
    context.act(pause.id);
  if (!held) return;
  ImGui::SameLine();
  text_colored(theme::warning, "plots are paused");
}

/// The last step in numbers.
void draw_last_step(PanelContext& context, const std::deque<StepReport>& history) {
  if (!section("Last step")) return;
  if (history.empty()) {
    ImGui::TextDisabled("No step yet.");
    return;
  }
  if (history.back().contact_solve) draw_contact_numbers(history.back());
  else draw_numbers(history.back());
  ImGui::Spacing();
  draw_stages(history.back());
  draw_save(context, ActionId::save_report);
  ImGui::SameLine();
  draw_save(context, ActionId::save_bundle);
}

}  // namespace

void draw_report_panel(PanelContext& context) {
  const std::deque<StepReport>& history = context.simulation.history();
  context.view.pattern_shown = context.view.matrix_shown = false;
  draw_last_step(context, history);
  if (!history.empty()) draw_pause(context);
  draw_tracked_section(context);
  if (section("Trace", false)) draw_trace(context.simulation);
  if (history.empty()) return;
  draw_expect_section(context);
  const std::deque<StepReport>& plotted = context.view.held ? context.view.held->history : history;
  if (section("Judge")) {
    draw_judgement(history.back());
    draw_history(HistoryPlots::judge, plotted);
  }
  if (history.back().contact_solve) {
    if (section("Contact solves")) draw_history(HistoryPlots::contact_solves, plotted);
    context.view.pattern_shown = section("Matrix W", false);
    if (context.view.pattern_shown) draw_pattern_section(context);
    draw_matrix_section(context, true);
    if (section("Energy")) draw_energies(context, plotted);
    if (section("Stage times")) draw_stage_times(plotted);
    return;
  }
  if (section("Convergence")) draw_convergence(history.back());
  if (section("Stiffness groups", false)) draw_groups(history.back());
  draw_matrix_section(context, false);
  if (section("Energy")) draw_energies(context, plotted);
  if (section("Stage times")) draw_stage_times(plotted);
  if (section("Effort and contacts", false)) draw_history(HistoryPlots::effort, plotted);
}

}  // namespace stickslip
