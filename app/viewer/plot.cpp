#include "app/viewer/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "app/viewer/theme.h"

namespace stickslip {
namespace {

struct Range {
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  bool empty() const { return low > high; }
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Maps values of one axis to pixels.
struct Scale {
  double low, high;  // already logarithms on a logarithmic axis
  float from, to;    // pixels
  bool logarithmic;
  float operator()(double value) const {
    if (logarithmic) value = std::log10(value);
    return from + static_cast<float>((value - low) / (high - low)) * (to - from);
  }
};

bool drawable(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

Range value_range(std::span<const PlotSeries> series, bool logarithmic) {
  Range range;
  for (const PlotSeries& line : series)
    for (const float value : line.values)
      if (drawable(value, logarithmic)) range.include(value);
  if (range.empty()) return logarithmic ? Range{0.1, 10} : Range{0, 1};
  if (logarithmic) {
    range.low = std::pow(10, std::floor(std::log10(range.low)));
    range.high = std::pow(10, std::ceil(std::log10(range.high)));
    if (range.high <= range.low) range.high = 10 * range.low;
  } else {
    const double margin = std::max(0.06 * (range.high - range.low), 1e-9 * std::abs(range.high) + 1e-12);
    range = {range.low - margin, range.high + margin};
  }
  return range;
}

std::string tick_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", std::abs(value) < 1e-15 ? 0.0 : value);
  return text;
}

void draw_series(ImDrawList& list, std::span<const float> x, const PlotSeries& line, const Scale& to_x,
                 const Scale& to_y) {
  const std::size_t count = std::min(x.size(), line.values.size());
  // No more points than pixels: a long history costs no more than a short one.
  const std::size_t stride =
      std::max<std::size_t>(1, count / static_cast<std::size_t>(to_x.to - to_x.from + 1));
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (points.size() > 1)
      list.AddPolyline(points.data(), static_cast<int>(points.size()), line.color, ImDrawFlags_None, 1.5f);
    else if (points.size() == 1) list.AddCircleFilled(points[0], 2, line.color);
    points.clear();
  };
  for (std::size_t i = 0; i < count; i += stride) {
    if (drawable(line.values[i], to_y.logarithmic)) points.emplace_back(to_x(x[i]), to_y(line.values[i]));
    else flush();
  }
  flush();
}

/// Names of the lines in one row, from the left.
void draw_legend(ImDrawList& list, ImVec2 at, std::span<const PlotSeries> series) {
  const float size = ImGui::GetFontSize();
  for (const PlotSeries& line : series) {
    list.AddRectFilled({at.x, at.y + 0.45f * size}, {at.x + 0.7f * size, at.y + 0.6f * size}, line.color);
    at.x += 0.95f * size;
    list.AddText(at, theme::dim_text, line.name.data(), line.name.data() + line.name.size());
    at.x += ImGui::CalcTextSize(line.name.data(), line.name.data() + line.name.size()).x + 0.8f * size;
  }
}

void draw_values_at(float mouse_x, std::span<const float> x, std::span<const PlotSeries> series,
                    const PlotAxis& x_axis, const Scale& to_x) {
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (std::abs(to_x(x[i]) - mouse_x) < std::abs(to_x(x[nearest]) - mouse_x)) nearest = i;
  ImGui::BeginTooltip();
  ImGui::Text("%.*s  %.5g", static_cast<int>(x_axis.label.size()), x_axis.label.data(),
              static_cast<double>(x[nearest]));
  for (const PlotSeries& line : series)
    if (nearest < line.values.size()) {
      ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(line.color), "%.*s",
                         static_cast<int>(line.name.size()), line.name.data());
      ImGui::SameLine();
      ImGui::Text("%.4g", static_cast<double>(line.values[nearest]));
    }
  ImGui::EndTooltip();
}

}  // namespace

std::vector<double> linear_ticks(double low, double high) {
  const double most = (high - low) / 2;
  const double decade = std::pow(10, std::floor(std::log10(most)));
  const double step = most >= 5 * decade ? 5 * decade : most >= 2 * decade ? 2 * decade : decade;
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    ticks.push_back(i * step);
  return ticks;
}

std::vector<double> decade_ticks(double low, double high, int wanted) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const int stride = std::max(1, (last - first + wanted) / std::max(wanted, 1));
  std::vector<double> ticks;
  for (int i = first; i <= last; i += stride) ticks.push_back(std::pow(10, i));
  return ticks;
}

void draw_plot(const char* id, const ImVec2& size, std::span<const float> x, const PlotAxis& x_axis,
               std::span<const PlotSeries> series, const PlotAxis& y_axis) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(id, size);
  const float text = ImGui::GetFontSize();

  const Range y_range = value_range(series, y_axis.logarithmic);
  const std::vector<double> y_ticks = y_axis.logarithmic ? decade_ticks(y_range.low, y_range.high, 4)
                                                         : linear_ticks(y_range.low, y_range.high);
  float label_width = 0;
  for (const double tick : y_ticks)
    label_width = std::max(label_width, ImGui::CalcTextSize(tick_text(tick).c_str()).x);

  const ImVec2 low{origin.x + label_width + 6, origin.y + 2.6f * text};
  const ImVec2 high{origin.x + size.x - 2, origin.y + size.y - 1.3f * text};
  const float x_low = x.empty() ? 0 : x.front(), x_high = x.empty() ? 1 : x.back();
  const Scale to_x{x_low, x_high > x_low ? x_high : x_low + 1, low.x, high.x, false};
  const Scale to_y{y_axis.logarithmic ? std::log10(y_range.low) : y_range.low,
                   y_axis.logarithmic ? std::log10(y_range.high) : y_range.high, high.y, low.y,
                   y_axis.logarithmic};

  list.AddText(origin, theme::text, y_axis.label.data(), y_axis.label.data() + y_axis.label.size());
  draw_legend(list, {origin.x, origin.y + 1.25f * text}, series);
  list.AddRectFilled(low, high, theme::plot_background, 2);
  for (const double tick : y_ticks) {
    const float y = to_y(tick);
    const std::string label = tick_text(tick);
    list.AddLine({low.x, y}, {high.x, y}, theme::plot_grid);
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    list.AddText({low.x - 4 - width, y - 0.5f * text}, theme::dim_text, label.c_str());
  }
  const std::string left = tick_text(x_low), right = tick_text(x_high);
  const float below = high.y + 0.1f * text;
  if (!x.empty()) {
    list.AddText({low.x, below}, theme::dim_text, left.c_str());
    list.AddText({high.x - ImGui::CalcTextSize(right.c_str()).x, below}, theme::dim_text, right.c_str());
  }
  const float label = ImGui::CalcTextSize(x_axis.label.data(), x_axis.label.data() + x_axis.label.size()).x;
  list.AddText({0.5f * (low.x + high.x - label), below}, theme::dim_text, x_axis.label.data(),
               x_axis.label.data() + x_axis.label.size());

  list.PushClipRect(low, high, true);
  for (const PlotSeries& line : series) draw_series(list, x, line, to_x, to_y);
  const float mouse_x = ImGui::GetMousePos().x;
  const bool hovered = ImGui::IsItemHovered() && !x.empty() && mouse_x >= low.x && mouse_x <= high.x;
  if (hovered) list.AddLine({mouse_x, low.y}, {mouse_x, high.y}, theme::dim_text);
  list.PopClipRect();
  if (hovered) draw_values_at(mouse_x, x, series, x_axis, to_x);
}

}  // namespace stickslip
