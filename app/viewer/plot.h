// A line plot in an ImGui window: linear or logarithmic values, legend, units, values under the pointer.
#pragma once

#include <imgui.h>

#include <span>
#include <string_view>
#include <vector>

namespace stickslip {

struct PlotSeries {
  std::string_view name;
  ImU32 color = 0;
  std::vector<float> values;  // one per x
};

struct PlotAxis {
  std::string_view label;  // quantity and unit
  bool logarithmic = false;
};

/// Draws into the next `size` pixels. With a logarithmic axis values not above 0 are gaps.
void draw_plot(const char* id, const ImVec2& size, std::span<const float> x, const PlotAxis& x_axis,
               std::span<const PlotSeries> series, const PlotAxis& y_axis);

/// Two to six round numbers (multiples of 1, 2 or 5 times a power of ten) in [low, high].
std::vector<double> linear_ticks(double low, double high);
/// Powers of ten in [low, high], thinned to at most `wanted`. Both bounds are above 0.
std::vector<double> decade_ticks(double low, double high, int wanted);

}  // namespace stickslip
