// Plots over records such as the steps of a history.
#pragma once

#include <deque>
#include <vector>

#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "gpu/model/report.h"

namespace stickslip {

/// One line of a plot over records.
template <class Record>
struct Curve {
  const char* name;
  ImU32 color;
  double (*of)(const Record&);
};

/// Draws the curves over `x`, one value per record.
template <class Record, class Records>
void draw_curves(const PlotAxis& y, float height, const Records& records, const std::vector<float>& x,
                 const char* x_label, const std::vector<Curve<Record>>& curves) {
  std::vector<PlotSeries> lines;
  for (const Curve<Record>& curve : curves) {
    lines.push_back({curve.name, curve.color, {}});
    for (const Record& record : records) lines.back().values.push_back(static_cast<float>(curve.of(record)));
  }
  draw_plot(y.label.data(), {ImGui::GetContentRegionAvail().x, em(height)}, x, {x_label}, lines, y);
}

inline std::vector<float> times_of(const std::deque<StepReport>& history) {
  std::vector<float> times;
  times.reserve(history.size());
  for (const StepReport& report : history) times.push_back(static_cast<float>(report.time));
  return times;
}

}  // namespace stickslip
