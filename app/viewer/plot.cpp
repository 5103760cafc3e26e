#include "app/viewer/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "app/viewer/theme.h"

namespace stickslip {
namespace {

struct AxisRange {
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
  double inverse(float pixel) const {
    const double value = low + static_cast<double>((pixel - from) / (to - from)) * (high - low);
    return logarithmic ? std::pow(10, value) : value;
  }
};

Scale x_scale(float low, float high, float from, float to, bool logarithmic) {
  if (!logarithmic) return {low, high > low ? high : low + 1, from, to, false};
  const double first = std::log10(low), last = std::log10(high);
  return {first, last > first ? last : first + 1, from, to, true};
}

bool drawable(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

/// Of the values with indices in [begin, end).
AxisRange value_range(std::span<const PlotSeries> series, const PlotAxis& axis, std::size_t begin,
                      std::size_t end) {
  const bool logarithmic = axis.logarithmic;
  AxisRange range;
  if (axis.from_zero && !logarithmic) range.include(0);
  for (const PlotSeries& line : series)
    for (std::size_t i = begin; i < std::min(end, line.values.size()); ++i)
      if (drawable(line.values[i], logarithmic)) range.include(line.values[i]);
  if (range.empty()) return logarithmic ? AxisRange{0.1, 10} : AxisRange{0, 1};
  if (logarithmic) {
    range.low = std::pow(10, std::floor(std::log10(range.low)));
    range.high = std::pow(10, std::ceil(std::log10(range.high)));
    if (range.high <= range.low) range.high = 10 * range.low;
  } else {
    const double margin = std::max(0.06 * (range.high - range.low), 1e-9 * std::abs(range.high) + 1e-12);
    range = {axis.from_zero ? range.low : range.low - margin, range.high + margin};
  }
  return range;
}

std::string value_text(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(value));
  return text;
}

/// Text in the middle of [left, right].
void add_centered(ImDrawList& list, float left, float right, float y, const std::string& text) {
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  list.AddText({0.5f * (left + right - width), y}, theme::dim_text, text.c_str());
}

void draw_series(ImDrawList& list, std::span<const float> x, const PlotSeries& line, std::size_t begin,
                 std::size_t end, const Scale& to_x, const Scale& to_y) {
  end = std::min({end, x.size(), line.values.size()});
  if (end <= begin) return;
  // At most one point per pixel, so that a long history costs no more than a short one.
  const std::size_t stride =
      std::max<std::size_t>(1, (end - begin) / static_cast<std::size_t>(to_x.to - to_x.from + 1));
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (points.size() > 1)
      list.AddPolyline(points.data(), static_cast<int>(points.size()), line.color, ImDrawFlags_None,
                       line.width);
    else if (points.size() == 1) list.AddCircleFilled(points[0], 2, line.color);
    points.clear();
  };
  for (std::size_t i = begin; i < end; i += stride) {
    if (drawable(line.values[i], to_y.logarithmic)) points.emplace_back(to_x(x[i]), to_y(line.values[i]));
    else flush();
  }
  flush();
}

/// Fills the areas between successive edges, the lowest one from 0. Neighbouring points of one pixel are one.
void draw_areas(ImDrawList& list, std::span<const float> x, std::span<const PlotSeries> edges,
                std::size_t begin, std::size_t end, const Scale& to_x, const Scale& to_y) {
  end = std::min(end, x.size());
  if (end <= begin) return;
  const std::size_t stride =
      std::max<std::size_t>(1, (end - begin) / static_cast<std::size_t>(to_x.to - to_x.from + 1));
  const ImDrawListFlags flags = list.Flags;
  list.Flags &= ~ImDrawListFlags_AntiAliasedFill;  // it would leave lines between quadrangles
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const auto low = [&](std::size_t i) { return to_y(k > 0 ? edges[k - 1].values[i] : 0); };
    const auto high = [&](std::size_t i) { return to_y(edges[k].values[i]); };
    if (end - begin == 1)  // a single step: a bar of the least width
      list.AddRectFilled({to_x(x[begin]) - 1, high(begin)}, {to_x(x[begin]) + 1, low(begin)}, edges[k].color);
    for (std::size_t i = begin; i + stride < end; i += stride) {
      const std::size_t j = i + stride;
      list.AddQuadFilled({to_x(x[i]), low(i)}, {to_x(x[i]), high(i)}, {to_x(x[j]), high(j)},
                         {to_x(x[j]), low(j)}, edges[k].color);
    }
  }
  list.Flags = flags;
}

/// In the storage of the window, where ImGui keeps what is unfolded.
class KeptChoice {
 public:
  explicit KeptChoice(ImGuiID id) : storage_(*ImGui::GetStateStorage()), id_(id) {}
  PlotChoice get() const {
    return {storage_.GetBool(id_ + 1), storage_.GetBool(id_ + 2), storage_.GetFloat(id_ + 3),
            storage_.GetFloat(id_ + 4)};
  }
  void set(const PlotChoice& choice) {
    storage_.SetBool(id_ + 1, choice.zoomed);
    storage_.SetBool(id_ + 2, choice.other_scale);
    storage_.SetFloat(id_ + 3, choice.low);
    storage_.SetFloat(id_ + 4, choice.high);
  }

 private:
  ImGuiStorage& storage_;
  ImGuiID id_;
};

/// The menu of the last item, a plot.
void draw_menu(PlotChoice& choice, const PlotAxis& y) {
  if (!ImGui::BeginPopupContextItem()) return;
  if (ImGui::MenuItem("Logarithmic", nullptr, y.logarithmic, !y.stacked))
    choice.other_scale = !choice.other_scale;
  if (ImGui::MenuItem("All", "double click", false, choice.zoomed)) choice.zoomed = false;
  ImGui::EndPopup();
}

/// A drag over the last item marks a part of the x axis, and chooses it at its end.
void drag_part(PlotChoice& choice, ImDrawList& list, const Scale& to_x, float top, float bottom) {
  constexpr float kLeast = 4;  // [px] of a drag
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) choice.zoomed = false;
  const ImGuiIO& io = ImGui::GetIO();
  const float first = std::clamp(io.MouseClickedPos[0].x, to_x.from, to_x.to),
              now = std::clamp(io.MousePos.x, to_x.from, to_x.to);
  if (std::abs(now - first) < kLeast) return;
  const float left = std::min(first, now), right = std::max(first, now);
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    list.AddRectFilled({left, top}, {right, bottom},
                       (theme::accent & ~IM_COL32_A_MASK) | (60u << IM_COL32_A_SHIFT));
  } else if (ImGui::IsItemDeactivated()) {
    choice.zoomed = true;
    choice.low = static_cast<float>(to_x.inverse(left));
    choice.high = static_cast<float>(to_x.inverse(right));
  }
}

/// Names of the lines from the left, in as many rows of `width` as they need; `list` may be null. Returns the
/// number of rows.
int draw_legend(ImDrawList* list, const ImVec2& corner, float width, std::span<const PlotSeries> series) {
  const float size = ImGui::GetFontSize();
  ImVec2 at = corner;
  int rows = 1;
  for (const PlotSeries& line : series) {
    if (!line.in_legend) continue;
    const char *name = line.name.data(), *end = name + line.name.size();
    const float length = 0.95f * size + ImGui::CalcTextSize(name, end).x;
    if (at.x > corner.x && at.x + length > corner.x + width) {
      at = {corner.x, at.y + 1.1f * size};
      ++rows;
    }
    if (list != nullptr) {
      list->AddRectFilled({at.x, at.y + 0.45f * size}, {at.x + 0.7f * size, at.y + 0.6f * size}, line.color);
      list->AddText({at.x + 0.95f * size, at.y}, theme::dim_text, name, end);
    }
    at.x += length + 0.8f * size;
  }
  return rows;
}

/// The values at the point next to the pointer, under the names of both axes, which have their units.
void draw_values_at(float mouse_x, std::span<const float> x, std::span<const PlotSeries> series,
                    const PlotAxis& x_axis, const PlotAxis& y_axis, const Scale& to_x) {
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (std::abs(to_x(x[i]) - mouse_x) < std::abs(to_x(x[nearest]) - mouse_x)) nearest = i;
  ImGui::BeginTooltip();
  ImGui::Text("%.*s  %.5g", static_cast<int>(x_axis.label.size()), x_axis.label.data(),
              static_cast<double>(x[nearest]));
  const bool is_single = series.size() == 1 && series[0].name.empty();
  if (!is_single) ImGui::Text("%.*s", static_cast<int>(y_axis.label.size()), y_axis.label.data());
  for (const PlotSeries& line : series)
    if (nearest < line.values.size() && std::isfinite(line.values[nearest])) {
      const std::string_view name = is_single ? y_axis.label : line.name;
      ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(line.color | IM_COL32_A_MASK), "%.*s",
                         static_cast<int>(name.size()), name.data());
      ImGui::SameLine();
      ImGui::Text("%.4g", static_cast<double>(line.values[nearest]));
    }
  if (y_axis.stacked && series.size() > 1) {
    const std::vector<PlotSeries> edges = stack(series);
    if (nearest < edges.back().values.size())
      ImGui::Text("sum %.4g", static_cast<double>(edges.back().values[nearest]));
  }
  ImGui::EndTooltip();
}

}  // namespace

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  char text[32];
  if (size >= 1e-3 && size < 1e5) {
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }
  int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  std::snprintf(text, sizeof text, "%.3ge%d", value / std::pow(10, exponent), exponent);
  return text;
}

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

PlotChoice choice_of_plot(const char* id) { return KeptChoice(ImGui::GetID(id)).get(); }

std::pair<std::size_t, std::size_t> part_of(std::span<const float> x, const PlotChoice& choice) {
  if (!choice.zoomed) return {0, x.size()};
  const auto first = std::ranges::lower_bound(x, choice.low), last = std::ranges::upper_bound(x, choice.high);
  return {static_cast<std::size_t>(first - x.begin()) - (first != x.begin()),
          static_cast<std::size_t>(last - x.begin()) + (last != x.end())};
}

std::vector<PlotSeries> stack(std::span<const PlotSeries> series) {
  std::vector<PlotSeries> edges(series.begin(), series.end());
  for (std::size_t k = 0; k < edges.size(); ++k)
    for (std::size_t i = 0; i < edges[k].values.size(); ++i) {
      float& value = edges[k].values[i];
      if (!(std::isfinite(value) && value > 0)) value = 0;
      if (k > 0 && i < edges[k - 1].values.size()) value += edges[k - 1].values[i];
    }
  return edges;
}

void draw_plot(const char* id, const ImVec2& size, std::span<const float> x, const PlotAxis& x_axis,
               std::span<const PlotSeries> series, const PlotAxis& y) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  KeptChoice kept(ImGui::GetID(id));
  PlotChoice choice = kept.get();
  PlotAxis y_axis = y;
  y_axis.logarithmic = !y.stacked && y.logarithmic != choice.other_scale;
  y_axis.from_zero = y.from_zero || y.stacked;
  const std::vector<PlotSeries> edges = y.stacked ? stack(series) : std::vector<PlotSeries>{};
  ImGui::InvisibleButton(id, size);
  draw_menu(choice, y_axis);
  const float text = ImGui::GetFontSize();

  const auto [begin, end] = part_of(x, choice);
  const AxisRange y_range = value_range(y.stacked ? edges : series, y_axis, begin, end);
  const std::vector<double> y_ticks = y_axis.logarithmic ? decade_ticks(y_range.low, y_range.high, 4)
                                                         : linear_ticks(y_range.low, y_range.high);
  float label_width = 0;
  for (const double tick : y_ticks)
    label_width = std::max(label_width, ImGui::CalcTextSize(tick_text(tick).c_str()).x);

  const bool has_legend = std::ranges::count_if(series, &PlotSeries::in_legend) > 1;
  const ImVec2 legend{origin.x, origin.y + 1.25f * text};
  const float rows = has_legend ? static_cast<float>(draw_legend(nullptr, legend, size.x, series)) : 0;
  const ImVec2 low{origin.x + label_width + 6, origin.y + (1.5f + 1.1f * rows) * text};
  const ImVec2 high{origin.x + size.x - 2, origin.y + size.y - 1.3f * text};
  const float x_low = choice.zoomed ? choice.low : x.empty() ? 0 : x.front();
  const float x_high = choice.zoomed ? choice.high : x.empty() ? 1 : x.back();
  const Scale to_x = x_scale(x_low, x_high, low.x, high.x, x_axis.logarithmic && x_low > 0);
  const Scale to_y{y_axis.logarithmic ? std::log10(y_range.low) : y_range.low,
                   y_axis.logarithmic ? std::log10(y_range.high) : y_range.high, high.y, low.y,
                   y_axis.logarithmic};

  list.AddText(origin, theme::text, y_axis.label.data(), y_axis.label.data() + y_axis.label.size());
  if (has_legend) draw_legend(&list, legend, size.x, series);
  list.AddRectFilled(low, high, theme::plot_background, 2);
  for (const double tick : y_ticks) {
    const float y = to_y(tick);
    const std::string label = tick_text(tick);
    list.AddLine({low.x, y}, {high.x, y}, theme::plot_grid);
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    list.AddText({low.x - 4 - width, y - 0.5f * text}, theme::dim_text, label.c_str());
  }
  const std::string left = value_text(x_low), right = value_text(x_high);
  const float below = high.y + 0.1f * text;
  if (!x.empty()) {
    list.AddText({low.x, below}, theme::dim_text, left.c_str());
    list.AddText({high.x - ImGui::CalcTextSize(right.c_str()).x, below}, theme::dim_text, right.c_str());
  }
  add_centered(list, low.x, high.x, below, std::string(x_axis.label));

  list.PushClipRect(low, high, true);
  if (y.stacked) draw_areas(list, x, edges, begin, end, to_x, to_y);
  else
    for (const PlotSeries& line : series) draw_series(list, x, line, begin, end, to_x, to_y);
  drag_part(choice, list, to_x, low.y, high.y);
  const float mouse_x = ImGui::GetMousePos().x;
  const bool hovered = ImGui::IsItemHovered() && !ImGui::IsAnyMouseDown() && !x.empty() && mouse_x >= low.x &&
                       mouse_x <= high.x;
  if (hovered) list.AddLine({mouse_x, low.y}, {mouse_x, high.y}, theme::dim_text);
  list.PopClipRect();
  kept.set(choice);
  if (hovered) draw_values_at(mouse_x, x, series, x_axis, y_axis, to_x);
}

void draw_bars(const char* id, const ImVec2& size, std::string_view title, std::span<const Bar> bars,
               ImU32 color) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(id, size);
  const float text = ImGui::GetFontSize();
  const ImVec2 low{origin.x, origin.y + 1.5f * text},
      high{origin.x + size.x, origin.y + size.y - 1.3f * text};
  list.AddText(origin, theme::text, title.data(), title.data() + title.size());
  list.AddRectFilled(low, high, theme::plot_background, 2);
  if (bars.empty()) return;

  double largest = 1;
  float widest = 0;
  for (const Bar& bar : bars) {
    largest = std::max(largest, bar.value);
    widest = std::max(widest, ImGui::CalcTextSize(bar.label.c_str()).x);
  }
  const float pitch = std::min((high.x - low.x) / static_cast<float>(bars.size()), 4 * text);
  const auto stride = static_cast<std::size_t>(std::ceil((widest + 0.4f * text) / pitch));
  const float room = high.y - low.y - 1.4f * text;  // space for the counts above
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const float left = low.x + static_cast<float>(i) * pitch, right = left + pitch;
    const auto height = room * static_cast<float>(std::log1p(bars[i].value) / std::log1p(largest));
    const float top = high.y - height;
    list.AddRectFilled({left + 0.12f * pitch, top}, {right - 0.12f * pitch, high.y}, color, 2);
    const std::string count = value_text(static_cast<float>(bars[i].value));
    if (ImGui::CalcTextSize(count.c_str()).x <= pitch)
      add_centered(list, left, right, top - 1.15f * text, count);
    if (i % stride == 0) add_centered(list, left, right, high.y + 0.1f * text, bars[i].label);
    if (ImGui::IsMouseHoveringRect({left, low.y}, {right, high.y}))
      ImGui::SetTooltip("%s: %.0f", bars[i].label.c_str(), bars[i].value);
  }
}

}  // namespace stickslip
