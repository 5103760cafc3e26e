// Plots of what the scene's [expect] table judges, with its bounds.
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/viewer/expect_curves.h"
#include "app/viewer/panels/curves.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr float kPlotHeight = 16;  // [em]

/// Lines of the bounds, where there are any.
void add_bounds(const ExpectCurve& curve, std::size_t points, std::vector<PlotSeries>& lines) {
  const auto add = [&](const char* name, double bound) {
    if (std::isfinite(bound))
      lines.push_back({name, theme::dim_text, std::vector<float>(points, static_cast<float>(bound))});
  };
  if (curve.low == curve.high) return add("exactly", curve.low);
  add("at least", curve.low);
  add("at most", curve.high);
}

void draw_curve(const ExpectCurve& curve, const std::vector<float>& times, std::vector<PlotSeries>& lines) {
  add_bounds(curve, times.size(), lines);
  draw_plot(curve.title.c_str(), {ImGui::GetContentRegionAvail().x, em(kPlotHeight)}, times, {"time, s"},
            lines, {curve.title});
}

void draw_of_steps(const ExpectCurve& curve, const std::deque<StepReport>& history) {
  std::vector<PlotSeries> lines{{"seen", theme::series[0], {}}};
  for (const StepReport& report : history)
    lines[0].values.push_back(static_cast<float>(curve.of_step(report)));
  draw_curve(curve, times_of(history), lines);
}

/// `last`: the last frame that is drawn.
void draw_of_objects(const ExpectCurve& curve, const TrackedProbes& expected, int last) {
  std::vector<float> times;
  for (const TrackedProbes::Row& row : expected.rows())
    if (row.frame <= last) times.push_back(static_cast<float>(row.time));
  std::vector<PlotSeries> lines;
  for (const int object : curve.objects) {
    const auto item = expected.find_object(object);
    if (!item) continue;
    const bool is_single = curve.objects.size() == 1;
    lines.push_back({is_single ? "seen" : std::string_view(expected.name(*item)), theme::wheel(*item), {}});
    lines.back().in_legend = is_single;
    for (std::size_t r = 0; r < times.size(); ++r)
      lines.back().values.push_back(static_cast<float>(expected.rows()[r].values[*item][curve.quantity]));
  }
  if (!lines.empty() && !times.empty()) draw_curve(curve, times, lines);
}

}  // namespace

void draw_expect_section(PanelContext& context) {
  const std::shared_ptr<const Scene>& scene = context.simulation.frame().scene;
  context.view.expect_shown = false;
  if (!scene || scene->expect.empty()) return;
  const std::vector<ExpectCurve> curves = expect_curves(scene->model, scene->expect);
  context.view.expect_shown = !curves.empty() && section("Expectations", false);
  if (!context.view.expect_shown) return;
  if (const std::string why = scene->unmet_reason(); !why.empty()) {
    text_colored(theme::warning, fit_text("not expected: " + why, ImGui::GetContentRegionAvail().x));
    tooltip(why);
  }
  const std::optional<HeldPlots>& held = context.view.held;
  const int last = held ? std::numeric_limits<int>::max() : context.simulation.status().frame;
  for (const ExpectCurve& curve : curves)
    if (curve.of_step) draw_of_steps(curve, held ? held->history : context.simulation.history());
    else draw_of_objects(curve, held ? held->expected : context.view.expected, last);
}

}  // namespace stickslip
