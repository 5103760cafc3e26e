// Sums and files of the plots over the steps of a history.
#include "app/viewer/panels/history_plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace stickslip {
namespace {

/// Steps of a block of 2 kg that a force pushes along a floor: in each, the force does 3 J of work, friction
/// takes 2 J and the block becomes faster by the rest.
std::deque<StepReport> pushed_block(int steps) {
  std::deque<StepReport> history;
  for (int i = 1; i <= steps; ++i) {
    StepReport& step = history.emplace_back();
    step.frame = i;
    step.time = 0.01 * i;
    step.kinetic_energy = i;
    StepJudgement& judged = step.judgement.emplace();
    judged.energy_change = 1;
    judged.work = 3;
    judged.law.friction_work = -2;
  }
  return history;
}

TEST(EnergyBalanceTest, WorkIsStoredOrDissipated) {
  const std::deque<StepReport> history = pushed_block(5);
  const std::vector<EnergyBalance> sums = energy_balance(steps_of(history));
  ASSERT_EQ(sums.size(), 5u);
  EXPECT_EQ(sums[0].stored, 0) << "the first step is the reference";
  EXPECT_EQ(sums[4].stored, 4);
  EXPECT_EQ(sums[4].work, 12);
  EXPECT_EQ(sums[4].dissipated, 8);
  EXPECT_EQ(sums[4].unexplained, 0);
}

TEST(EnergyBalanceTest, BarriersStoreEnergyAndStepsMayCreateIt) {
  std::deque<StepReport> history = pushed_block(3);
  for (std::size_t i = 0; i < 3; ++i) history[i].judgement->barrier_energy = 10 + static_cast<double>(i * i);
  history[2].judgement->energy_change += 0.25;
  const std::vector<EnergyBalance> sums = energy_balance(steps_of(history));
  EXPECT_EQ(sums[1].stored, 2) << "1 J of motion and 1 J of barriers";
  EXPECT_EQ(sums[1].unexplained, 1);
  EXPECT_EQ(sums[2].unexplained, 4.25);
}

TEST(EnergyBalanceTest, WhatIsNotKnownStaysUnknown) {
  std::deque<StepReport> history = pushed_block(4);
  history[2].judgement->work = std::nan("");
  std::vector<EnergyBalance> sums = energy_balance(steps_of(history));
  EXPECT_EQ(sums[1].unexplained, 0);
  for (const std::size_t i : {2, 3}) {
    EXPECT_TRUE(std::isnan(sums[i].work) && std::isnan(sums[i].unexplained));
    EXPECT_EQ(sums[i].stored, static_cast<double>(i));
  }
  history[3].judgement.reset();
  sums = energy_balance(steps_of(history));
  EXPECT_TRUE(std::isnan(sums[3].stored) && std::isnan(sums[3].dissipated));
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool inside = false;
  for (const char c : line) {
    if (c == '"') inside = !inside;
    else if (c == ',' && !inside) out.emplace_back();
    else out.back() += c;
  }
  return out;
}

TEST(HistoryCsv, HasEveryCurveOfAllPlotsAndTheBalance) {
  std::deque<StepReport> history = pushed_block(3);
  history[1].contact_solve.emplace().residual = 0.125;
  history[2].judgement->work = std::nan("");
  StageTimes& stages = history[1].seconds;
  double StageTimes::*const parts[] = {
      &StageTimes::broad_phase,   &StageTimes::contacts, &StageTimes::assembly,
      &StageTimes::linear_solve,  &StageTimes::ccd,      &StageTimes::line_search,
      &StageTimes::contact_solve, &StageTimes::check,    &StageTimes::other};
  for (std::size_t i = 0; i < std::size(parts); ++i) stages.*parts[i] = 0.001 * static_cast<double>(1 << i);
  std::istringstream text(history_csv(steps_of(history)));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(text, line);) rows.push_back(cells(line));
  ASSERT_EQ(rows.size(), 4u);
  std::size_t curves = 0;
  for (const HistoryPlots section :
       {HistoryPlots::judge, HistoryPlots::contact_solves, HistoryPlots::energy, HistoryPlots::effort})
    for (const HistoryPlot& plot : history_plots(section)) curves += plot.curves.size();
  for (const auto& row : rows) EXPECT_EQ(row.size(), 2 + curves + 4 + 9);
  const auto at = [&](std::size_t row, const std::string& title) {
    const auto column = std::ranges::find(rows[0], title);
    if (column == rows[0].end()) return "no column " + title;
    return rows[row][static_cast<std::size_t>(column - rows[0].begin())];
  };
  EXPECT_EQ(at(3, "frame"), "3");
  EXPECT_EQ(std::stod(at(3, "time, s")), history[2].time) << "no digit is lost";
  EXPECT_EQ(at(2, "Energy, J: kinetic"), "2");
  EXPECT_EQ(at(2, "Residual of the contact solve: residual"), "0.125");
  EXPECT_EQ(at(2, "Energy since the first of these steps, J: dissipated"), "2");
  EXPECT_EQ(at(3, "Energy since the first of these steps, J: work"), "") << "not known";
  EXPECT_EQ(at(2, "Time of a stage, ms: broad phase"), "1");
  EXPECT_EQ(at(2, "Time of a stage, ms: contact solve"), "64");
  double sum = 0;
  for (std::size_t column = 0; column < rows[0].size(); ++column)
    if (rows[0][column].starts_with("Time of a stage")) sum += std::stod(rows[2][column]);
  EXPECT_NEAR(sum, 1e3 * stages.total(), 1e-9) << "no stage is left out";
  std::vector<std::string> titles = rows[0];
  std::ranges::sort(titles);
  EXPECT_EQ(std::ranges::adjacent_find(titles), titles.end()) << "two columns have one title";
}

TEST(StageTimesTest, StagesThatNoStepHasAreLeftOut) {
  std::deque<StepReport> history = pushed_block(3);
  EXPECT_TRUE(stage_series(history).empty());
  for (StepReport& step : history) step.seconds.broad_phase = 0.001;
  history[1].seconds.contact_solve = 0.004;
  history[2].seconds.other = 0.002;
  const std::vector<PlotSeries> series = stage_series(history);
  ASSERT_EQ(series.size(), 3u);
  EXPECT_EQ(series[0].name, "broad phase");
  EXPECT_EQ(series[0].values, (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(series[1].name, "contact solve");
  EXPECT_EQ(series[1].values, (std::vector<float>{0, 4, 0}));
  const std::vector<PlotSeries> edges = stack(series);
  for (std::size_t i = 0; i < history.size(); ++i)
    EXPECT_NEAR(edges.back().values[i], 1e3 * history[i].seconds.total(), 1e-5)
        << "the upper edge is the time of the step";
}

TEST(StageTimesTest, ColoursOfStagesInOnePlotDiffer) {
  for (const bool velocity : {true, false}) {
    std::vector<ImU32> colours;
    for (const StageColumn& stage : stage_columns())
      if (stage.seconds != (velocity ? &StageTimes::line_search : &StageTimes::contact_solve))
        colours.push_back(stage.color);
    std::ranges::sort(colours);
    EXPECT_EQ(std::ranges::adjacent_find(colours), colours.end());
  }
}

}  // namespace
}  // namespace stickslip
