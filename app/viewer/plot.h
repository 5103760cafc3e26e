// A line plot in an ImGui window: linear or logarithmic values, legend, units, values under the pointer.
#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stickslip {

struct PlotSeries {
  std::string_view name;
  ImU32 color = 0;
  std::vector<float> values;  // one per x
  bool in_legend = true;
  float width = 1.5f;  // of the line, in pixels
};

struct PlotAxis {
  std::string_view label;  // quantity and unit
  bool logarithmic = false;
  bool from_zero = false;  // a linear axis of counts begins at 0
  bool stacked = false;    // areas on top of each other, on a linear axis from 0; see stack
};

/// What the user chose of one plot: a part of its x axis, and the other scale of its values.
struct PlotChoice {
  bool zoomed = false, other_scale = false;
  float low = 0, high = 0;  // of x, while it is zoomed
};

/// Of the plot with this id in the present window.
PlotChoice choice_of_plot(const char* id);

/// The indices [begin, end) of `x`, ascending, that a plot of this part draws: those within it, and one more
/// on each side, to which lines lead.
std::pair<std::size_t, std::size_t> part_of(std::span<const float> x, const PlotChoice& choice);

/// The upper edges of areas on top of each other, the first at the bottom. Values that are not finite or
/// below 0 count as 0.
std::vector<PlotSeries> stack(std::span<const PlotSeries> series);

/// Draws into the next `size` pixels. On a logarithmic axis, values not above 0 are gaps. `x` ascends and is
/// positive on a logarithmic axis. A single line has no legend: the axis label names it. A drag chooses a
/// part of the x axis, a double click all of it, a right click the scale of the values.
void draw_plot(const char* id, const ImVec2& size, std::span<const float> x, const PlotAxis& x_axis,
               std::span<const PlotSeries> series, const PlotAxis& y_axis);

struct Bar {
  std::string label;
  double value = 0;
};

/// Bars of counts under a title. Heights are the logarithm of 1 + count; the count is on top, and the label
/// below if it fits.
void draw_bars(const char* id, const ImVec2& size, std::string_view title, std::span<const Bar> bars,
               ImU32 color);

/// A round number as an axis label: "0.002", "1500", "1e6".
std::string tick_text(double value);

/// Two to six round numbers (multiples of 1, 2 or 5 times a power of ten) in [low, high].
std::vector<double> linear_ticks(double low, double high);
/// Powers of ten in [low, high], thinned to at most `wanted`. Both bounds are above 0.
std::vector<double> decade_ticks(double low, double high, int wanted);

}  // namespace stickslip
