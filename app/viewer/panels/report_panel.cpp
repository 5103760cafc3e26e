#include <algorithm>
#include <array>
#include <numeric>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

struct Stage {
  const char* name;
  double seconds;
};

std::array<Stage, 7> stages_of(const StageTimes& times) {
  return {{{"broad phase", times.broad_phase},
           {"contacts", times.contacts},
           {"assembly", times.assembly},
           {"linear solve", times.linear_solve},
           {"CCD", times.ccd},
           {"line search", times.line_search},
           {"other", times.other}}};
}

/// One bar per stage, the longest fills the width.
void draw_stages(const StageTimes& times) {
  const std::array<Stage, 7> stages = stages_of(times);
  double longest = 1e-9;
  for (const Stage& stage : stages) longest = std::max(longest, stage.seconds);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight(), begin = em(15),
              end = ImGui::GetContentRegionAvail().x - em(11);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_colored(theme::dim_text, stages[i].name);
    const float share = static_cast<float>(stages[i].seconds / longest);
    const ImVec2 low{at.x + begin, at.y + 0.2f * line}, high{at.x + end, at.y + 0.8f * line};
    list.AddRectFilled(low, high, theme::bar_background, 2);
    list.AddRectFilled(low, {low.x + share * (high.x - low.x), high.y}, theme::series[i], 2);
    ImGui::SameLine(end + em(2));
    ImGui::Text("%s", duration_text(stages[i].seconds).c_str());
  }
}

void draw_numbers(const StepReport& report) {
  const float column = em(16);
  value_row("Newton", column, "%d iterations", report.newton_iterations);
  value_row("PCG", column, "%d iterations", report.pcg_iterations);
  value_row("Ended by", column, "%s", "");
  ImGui::SameLine(column);
  text_colored(report.converged ? theme::good : theme::warning,
               report.stop_reason.empty() ? "-" : report.stop_reason);
  value_row("Contacts", column, "%d of %d pairs", report.contacts, report.candidates);
  value_row("Smallest gap", column, "%s", report.gap_min < 0 ? "-" : si_text(report.gap_min, "m").c_str());
  value_row("Smallest volume", column, "%.3g of rest", report.volume_ratio_min);
  value_row("Barrier sigma", column, "%s", si_text(report.barrier_stiffness, "N/m").c_str());
  if (report.intersections >= 0) {
    value_row("Intersections", column, "%s", "");
    ImGui::SameLine(column);
    text_colored(report.intersections == 0 ? theme::good : theme::bad, std::to_string(report.intersections));
  }
}

void draw_residuals(const StepReport& report) {
  std::vector<float> iterations(report.newton.size());
  std::iota(iterations.begin(), iterations.end(), 1.0f);
  std::array<PlotSeries, 3> lines{{{"gradient, N", theme::series[0], {}},
                                   {"step, m/s", theme::series[1], {}},
                                   {"PCG, relative", theme::series[2], {}}}};
  for (const NewtonRecord& record : report.newton) {
    lines[0].values.push_back(static_cast<float>(record.gradient_norm));
    lines[1].values.push_back(static_cast<float>(record.step_norm));
    lines[2].values.push_back(static_cast<float>(record.pcg_residual));
  }
  draw_plot("residuals", {ImGui::GetContentRegionAvail().x, em(19)}, iterations, {"Newton iteration"}, lines,
            {"Residuals of the last step", true});
}

void draw_energies(const std::deque<StepReport>& history) {
  std::vector<float> times;
  std::array<PlotSeries, 4> lines{{{"kinetic", theme::series[0], {}},
                                   {"elastic", theme::series[1], {}},
                                   {"gravity", theme::series[2], {}},
                                   {"sum", theme::series[6], {}}}};
  for (const StepReport& report : history) {
    const double energies[] = {report.kinetic_energy, report.elastic_energy, report.gravity_energy};
    times.push_back(static_cast<float>(report.time));
    for (std::size_t i = 0; i < 3; ++i) lines[i].values.push_back(static_cast<float>(energies[i]));
    lines[3].values.push_back(static_cast<float>(energies[0] + energies[1] + energies[2]));
  }
  draw_plot("energies", {ImGui::GetContentRegionAvail().x, em(20)}, times, {"time, s"}, lines, {"Energy, J"});
}

void draw_effort(const std::deque<StepReport>& history) {
  std::vector<float> times;
  std::array<PlotSeries, 2> lines{
      {{"step time, ms", theme::series[3], {}}, {"contacts", theme::series[5], {}}}};
  for (const StepReport& report : history) {
    times.push_back(static_cast<float>(report.time));
    lines[0].values.push_back(static_cast<float>(1e3 * report.seconds.total()));
    lines[1].values.push_back(static_cast<float>(report.contacts));
  }
  draw_plot("effort", {ImGui::GetContentRegionAvail().x, em(20)}, times, {"time, s"}, lines,
            {"Step time and contacts", true});
}

}  // namespace

void draw_report_panel(PanelContext& context) {
  const std::deque<StepReport>& history = context.simulation.history();
  if (section("Last step")) {
    if (history.empty()) {
      ImGui::TextDisabled("No step yet.");
    } else {
      draw_numbers(history.back());
      ImGui::Spacing();
      draw_stages(history.back().seconds);
    }
  }
  if (history.empty()) return;
  if (section("Convergence")) draw_residuals(history.back());
  if (section("Energy")) draw_energies(history);
  if (section("Effort", false)) draw_effort(history);
}

}  // namespace stickslip
