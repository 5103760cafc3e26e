#include "app/viewer/panels/history_plots.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "app/viewer/theme.h"

namespace stickslip {
namespace {

using Step = StepReport;

/// 0 for a step without a contact solve; a history may contain such steps.
template <class Member>
double of_solve(const Step& report, Member member) {
  return report.contact_solve ? static_cast<double>((*report.contact_solve).*member) : 0;
}

/// A part of the judgement, 0 for a step without.
double of_judgement(const Step& report, double (*part)(const StepJudgement&)) {
  return report.judgement ? part(*report.judgement) : 0;
}

double total_energy(const Step& r) { return r.kinetic_energy + r.elastic_energy + r.gravity_energy; }

std::vector<HistoryPlot> judge_plots() {
  return {
      {{"Residual by Coulomb's law", true},
       14,
       {{"", theme::series[0],
         [](const Step& r) { return of_judgement(r, [](const StepJudgement& j) { return j.residual; }); }}}},
      {{"Energy in a step, J"},
       18,
       {{"change", theme::series[1],
         [](const Step& r) {
           return of_judgement(r, [](const StepJudgement& j) { return j.energy_change; });
         }},
        {"friction", theme::series[3],
         [](const Step& r) {
           return of_judgement(r, [](const StepJudgement& j) { return j.law.friction_work; });
         }},
        {"work", theme::series[2],
         [](const Step& r) { return of_judgement(r, [](const StepJudgement& j) { return j.work; }); }}}}};
}

std::vector<HistoryPlot> contact_plots() {
  return {
      {{"Residual of the contact solve", true},
       18,
       {{"residual", theme::series[0],
         [](const Step& r) { return of_solve(r, &ContactSolveRecord::residual); }},
        {"tolerance", theme::series[6],
         [](const Step& r) { return of_solve(r, &ContactSolveRecord::tolerance); }}}},
      {{"Iterations per step", false, true},
       14,
       {{"", theme::series[2], [](const Step& r) { return of_solve(r, &ContactSolveRecord::iterations); }}}},
      {{"Largest penetration, mm", false, true},
       14,
       {{"", theme::series[3],
         [](const Step& r) { return 1e3 * of_solve(r, &ContactSolveRecord::penetration); }}}},
      {{"Contacts", false, true},
       14,
       {{"", theme::series[5], [](const Step& r) { return static_cast<double>(r.contacts); }}}},
      {{"Time per step, ms", false, true},
       18,
       {{"step", theme::series[3], [](const Step& r) { return 1e3 * r.seconds.total(); }},
        {"contact solve", theme::series[0], [](const Step& r) { return 1e3 * r.seconds.contact_solve; }}}}};
}

std::vector<HistoryPlot> energy_plots() {
  return {{{"Energy, J"},
           20,
           {{"kinetic", theme::series[0], [](const Step& r) { return r.kinetic_energy; }},
            {"elastic", theme::series[1], [](const Step& r) { return r.elastic_energy; }},
            {"gravity", theme::series[2], [](const Step& r) { return r.gravity_energy; }},
            {"sum", theme::series[6], total_energy}}}};
}

std::vector<HistoryPlot> effort_plots() {
  return {{{"Newton iterations per step", false, true},
           14,
           {{"", theme::series[0], [](const Step& r) { return static_cast<double>(r.newton_iterations); }}}},
          {{"PCG iterations per step", false, true},
           14,
           {{"", theme::series[2], [](const Step& r) { return static_cast<double>(r.pcg_iterations); }}}},
          {{"Contacts at the end of a step", false, true},
           17,
           {{"active", theme::series[5], [](const Step& r) { return static_cast<double>(r.contacts); }},
            {"with multiplier", multiplier_line,
             [](const Step& r) { return static_cast<double>(r.augmented); }}}},
          {{"Largest multiplier, N", true},
           14,
           {{"", multiplier_line, [](const Step& r) { return r.multiplier_max; }}}},
          {{"Step time, ms", true}, 14, {{"", theme::series[3], [](const Step& r) {
                                            return 1e3 * r.seconds.total();
                                          }}}}};
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

/// With enough digits to read back the same number; empty where it is not known.
std::string cell(double value) {
  if (!std::isfinite(value)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

constexpr std::array kAllPlots{HistoryPlots::energy, HistoryPlots::judge, HistoryPlots::contact_solves,
                               HistoryPlots::effort};

struct BalanceCurve {
  const char* name;
  std::size_t color;  // of theme::series
  double EnergyBalance::*part;
};
constexpr const char* kBalanceTitle = "Energy since the first of these steps, J";
constexpr std::array<BalanceCurve, 4> kBalanceCurves{{{"stored", 1, &EnergyBalance::stored},
                                                      {"work", 2, &EnergyBalance::work},
                                                      {"dissipated", 3, &EnergyBalance::dissipated},
                                                      {"unexplained", 6, &EnergyBalance::unexplained}}};

constexpr const char* kStagesTitle = "Time of a stage, ms";
/// No step has both a line search and a contact solve, which share a colour.
constexpr std::array<StageColumn, 9> kStageColumns{
    {{"broad phase", &StageTimes::broad_phase, theme::series[0]},
     {"contacts", &StageTimes::contacts, theme::series[1]},
     {"assembly", &StageTimes::assembly, theme::series[2]},
     {"linear solve", &StageTimes::linear_solve, theme::series[3]},
     {"CCD", &StageTimes::ccd, theme::series[4]},
     {"line search", &StageTimes::line_search, theme::series[5]},
     {"contact solve", &StageTimes::contact_solve, theme::series[5]},
     {"check", &StageTimes::check, theme::bad},
     {"other", &StageTimes::other, theme::series[6]}}};

/// Calls act(item, quantity) for the numbers of each contact and object.
template <class Act>
void for_each_tracked(const TrackedProbes& tracked, const Act& act) {
  for (std::size_t item = 0; item < tracked.size(); ++item)
    for (std::size_t quantity = 0; quantity < TrackedProbes::kQuantities.size(); ++quantity)
      if (TrackedProbes::kQuantities[quantity].kind == tracked.kind(item)) act(item, quantity);
}

}  // namespace

std::span<const HistoryPlot> history_plots(HistoryPlots section) {
  static const std::array<std::vector<HistoryPlot>, 4> plots{judge_plots(), contact_plots(), energy_plots(),
                                                             effort_plots()};
  return plots[static_cast<std::size_t>(section)];
}

std::vector<const StepReport*> steps_of(const std::deque<StepReport>& history) {
  std::vector<const StepReport*> steps;
  steps.reserve(history.size());
  for (const StepReport& report : history) steps.push_back(&report);
  return steps;
}

std::vector<EnergyBalance> energy_balance(std::span<const StepReport* const> steps) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<EnergyBalance> sums;
  sums.reserve(steps.size());
  bool knows_work = true;
  double barriers_before = 0, work = 0, dissipated = 0, change = 0, barriers = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::optional<StepJudgement>& judged = steps[i]->judgement;
    // A velocity-level step has no barriers.
    const double potential = judged && std::isfinite(judged->barrier_energy) ? judged->barrier_energy : 0;
    if (i > 0) {
      change += judged ? judged->energy_change : kUnknown;
      barriers += potential - barriers_before;
      dissipated -= judged ? judged->law.friction_work : kUnknown;
      if (judged && std::isfinite(judged->work)) work += judged->work;
      else knows_work = false;
    }
    barriers_before = potential;
    const double stored = change + barriers;
    sums.push_back({stored, knows_work ? work : kUnknown, dissipated,
                    knows_work ? stored - work + dissipated : kUnknown});
  }
  return sums;
}

void draw_history(HistoryPlots section, const std::deque<StepReport>& history) {
  const std::vector<float> times = times_of(history);
  for (const HistoryPlot& plot : history_plots(section))
    draw_curves<Step>(plot.axis, plot.height, history, times, "time, s", plot.curves);
}

std::span<const StageColumn> stage_columns() { return kStageColumns; }

std::vector<PlotSeries> stage_series(const std::deque<StepReport>& history) {
  std::vector<PlotSeries> series;
  for (const StageColumn& stage : kStageColumns) {
    PlotSeries area{stage.name, stage.color, {}};
    bool has_any = false;
    for (const StepReport& report : history) {
      const double seconds = report.seconds.*stage.seconds;
      has_any = has_any || seconds > 0;
      area.values.push_back(static_cast<float>(1e3 * seconds));
    }
    if (has_any) series.push_back(std::move(area));
  }
  return series;
}

void draw_stage_times(const std::deque<StepReport>& history) {
  PlotAxis axis{kStagesTitle};
  axis.stacked = true;
  draw_plot(kStagesTitle, {ImGui::GetContentRegionAvail().x, em(20)}, times_of(history), {"time, s"},
            stage_series(history), axis);
}

void draw_energy_balance(const std::deque<StepReport>& history) {
  const std::vector<EnergyBalance> sums = energy_balance(steps_of(history));
  std::vector<PlotSeries> lines;
  for (const BalanceCurve& curve : kBalanceCurves) {
    lines.push_back({curve.name, theme::series[curve.color], {}});
    for (const EnergyBalance& sum : sums) lines.back().values.push_back(static_cast<float>(sum.*curve.part));
  }
  draw_plot(kBalanceTitle, {ImGui::GetContentRegionAvail().x, em(20)}, times_of(history), {"time, s"}, lines,
            {kBalanceTitle});
}

std::string history_csv(std::span<const StepReport* const> steps, const TrackedProbes& tracked,
                        std::span<const HistoryColumn> more) {
  std::string text = "frame,\"time, s\"";
  const auto add_title = [&](std::string_view axis, const char* curve) {
    text += "," + quoted(std::string(axis) + (curve[0] == '\0' ? "" : std::string(": ") + curve));
  };
  for (const HistoryPlots section : kAllPlots)
    for (const HistoryPlot& plot : history_plots(section))
      for (const Curve<Step>& curve : plot.curves) add_title(plot.axis.label, curve.name);
  for (const BalanceCurve& curve : kBalanceCurves) add_title(kBalanceTitle, curve.name);
  for (const StageColumn& stage : kStageColumns) add_title(kStagesTitle, stage.name);
  for_each_tracked(tracked, [&](std::size_t item, std::size_t quantity) {
    add_title(tracked.name(item), TrackedProbes::kQuantities[quantity].title.data());
  });
  for (const HistoryColumn& column : more) text += "," + quoted(column.title);
  const std::vector<EnergyBalance> sums = energy_balance(steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += "\n" + std::to_string(steps[i]->frame) + "," + cell(steps[i]->time);
    for (const HistoryPlots section : kAllPlots)
      for (const HistoryPlot& plot : history_plots(section))
        for (const Curve<Step>& curve : plot.curves) text += "," + cell(curve.of(*steps[i]));
    for (const BalanceCurve& curve : kBalanceCurves) text += "," + cell(sums[i].*curve.part);
    for (const StageColumn& stage : kStageColumns)
      text += "," + cell(1e3 * (steps[i]->seconds.*stage.seconds));
    const TrackedProbes::Row* row = tracked.at(steps[i]->frame);
    for_each_tracked(tracked, [&](std::size_t item, std::size_t quantity) {
      text += "," + (row ? cell(row->values[item][quantity]) : "");
    });
    for (const HistoryColumn& column : more) text += "," + cell(column.of(*steps[i]));
  }
  return text + "\n";
}

}  // namespace stickslip
