// The plots over the steps of a history: panels draw them, and a CSV file has their numbers.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/viewer/panels/curves.h"
#include "app/viewer/tracked_probes.h"

namespace stickslip {

/// The colour of the overlay's rings around multipliers, lighter because lines are thin.
inline constexpr ImU32 multiplier_line = IM_COL32(172, 124, 255, 255);

struct HistoryPlot {
  PlotAxis axis;
  float height;  // [em]
  std::vector<Curve<StepReport>> curves;
};

/// Sections of the report panel.
enum class HistoryPlots { judge, contact_solves, energy, effort };
std::span<const HistoryPlot> history_plots(HistoryPlots section);

/// Sums over the steps after the first one of a history [J]; NaN from the first step on that has no
/// judgement. So has `unexplained` from the first step on whose work is not known.
struct EnergyBalance {
  double stored = 0;      // change of kinetic, elastic and gravity energy and of that of barriers
  double work = 0;        // of scripts, forces and the mouse
  double dissipated = 0;  // by friction
  /// stored - work + dissipated: above 0, steps created energy; below 0, damping of materials, of integrators
  /// and of impacts took it.
  double unexplained = 0;
};
std::vector<EnergyBalance> energy_balance(std::span<const StepReport* const> steps);

/// A stage of a step. The bars of the last step and the plot over steps have the same colours.
struct StageColumn {
  const char* name;
  double StageTimes::*seconds;
  ImU32 color;
};
std::span<const StageColumn> stage_columns();
/// Times [ms] of the stages that any of the steps has, in the order of stage_columns.
std::vector<PlotSeries> stage_series(const std::deque<StepReport>& history);
/// The times of these stages over the steps, on top of each other.
void draw_stage_times(const std::deque<StepReport>& history);

std::vector<const StepReport*> steps_of(const std::deque<StepReport>& history);
/// All plots of a section.
void draw_history(HistoryPlots section, const std::deque<StepReport>& history);
void draw_energy_balance(const std::deque<StepReport>& history);

/// A column of history_csv.
struct HistoryColumn {
  std::string title;
  std::function<double(const StepReport&)> of;  // NaN: not known
};

/// A line per step: frame, time, every curve of all plots, the energy balance, the numbers of what is
/// tracked, and further columns. Numbers that are not known are empty.
std::string history_csv(std::span<const StepReport* const> steps, const TrackedProbes& tracked = {},
                        std::span<const HistoryColumn> more = {});

}  // namespace stickslip
