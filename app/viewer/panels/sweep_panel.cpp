// Part of the section about forks: a sweep over a parameter, and its results as a strip of points.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// The range follows the key; numbers of values and steps stay.
void choose_key(SweepRequest& request, const std::string& key, const Settings& settings) {
  const SweepRequest fresh = default_sweep(key, settings);
  request.key = key;
  request.low = fresh.low;
  request.high = fresh.high;
  request.logarithmic = fresh.logarithmic;
}

void draw_keys(PanelContext& context, const Model& model) {
  const Settings& settings = context.simulation.settings();
  SweepRequest& request = context.view.sweep;
  ImGui::SetNextItemWidth(-1);
  const bool open = begin_choices("##key", request.key);
  if (!open) return tooltip(std::string(find_sweep_key(request.key).row->meaning));
  filter_field("##find", "Find a parameter", context.view.sweep_filter);
  for (const std::string& key : sweep_keys()) {
    const ParamInfo& row = *find_sweep_key(key).row;
    if (!passes_filter(context.view.sweep_filter, {key, row.meaning})) continue;
    const std::string reason = inactive_reason(row, settings, model);
    ImGui::BeginDisabled(!reason.empty());
    if (ImGui::Selectable(key.c_str(), key == request.key)) choose_key(request, key, settings);
    ImGui::EndDisabled();
    tooltip(reason.empty() ? std::string(row.meaning) : reason);
  }
  ImGui::EndCombo();
}

void draw_range(SweepRequest& request) {
  const auto number = [](const char* id, double& value, const char* meaning) {
    ImGui::SetNextItemWidth(em(11));
    ImGui::InputDouble(id, &value, 0, 0, "%.6g");
    tooltip(meaning);
    ImGui::SameLine();
  };
  number("##low", request.low, "Lowest value");
  number("##high", request.high, "Highest value");
  ImGui::Checkbox("log", &request.logarithmic);
  tooltip("Values with equal ratios in place of equal differences");
  ImGui::SetNextItemWidth(em(14));
  ImGui::SliderInt("##count", &request.count, SweepRequest::kFewest, SweepRequest::kMost, "%d values");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em(14));
  if (!begin_choices("##steps", counted(request.steps, "step"))) return;
  for (const int steps : {1, 3, 10, 30, 100, 300, 1000})
    if (ImGui::Selectable(counted(steps, "step").c_str(), steps == request.steps)) request.steps = steps;
  ImGui::EndCombo();
}

void draw_buttons(PanelContext& context) {
  const SweepRequest& request = context.view.sweep;
  if (context.sweep.busy()) {
    if (ImGui::Button("Cancel##sweep")) context.sweep.cancel();
    tooltip("The present run ends, the values that wait are left out");
  } else {
    std::string reason = sweep_refusal(request);
    if (reason.empty() && !context.simulation.status().loaded) reason = "no scene is loaded";
    ImGui::BeginDisabled(!reason.empty());
    if (ImGui::Button("Sweep")) context.sweep.ask(context.simulation, request);
    ImGui::EndDisabled();
    tooltip(reason.empty() ? "Copies of the present state go on with each value, in the background" : reason);
  }
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  std::size_t& shown = context.view.sweep_measure;
  const auto measures = sweep_measures();
  if (!begin_choices("##measure", measures[shown].axis)) return;
  for (std::size_t m = 0; m < measures.size(); ++m) {
    if (ImGui::Selectable(measures[m].axis, m == shown)) shown = m;
    tooltip(measures[m].meaning);
  }
  ImGui::EndCombo();
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// What the tooltip of a point says.
std::string point_text(const SweepRun& run, const SweepStatus& status) {
  const SweepKey key = find_sweep_key(status.request.key);
  std::string text = status.request.key + " = " + value_text(*key.row, run.value);
  if (run.end != SweepRun::End::finished) return text + "\n" + name_of(run.end) + ": " + run.message;
  for (const SweepMeasure& measure : sweep_measures()) {
    const double value = measure.value(run);
    text += std::string("\n") + measure.axis + ": " + (std::isfinite(value) ? tick_text(value) : "unknown");
  }
  return text + "\nA click puts this value into the scene";
}

/// Where the strip is, and the columns of its values.
struct StripPlace {
  ImVec2 low, high;  // upper left and lower right corner
  std::size_t count;

  float pitch() const { return (high.x - low.x) / static_cast<float>(count); }
  ImVec2 at(std::size_t i, double height) const {
    const float room = 0.4f * ImGui::GetFontSize();  // keeps points inside
    return {low.x + (static_cast<float>(i) + 0.5f) * pitch(),
            high.y - room - static_cast<float>(height) * (high.y - low.y - 2 * room)};
  }
};

void draw_points(ImDrawList& list, const SweepStatus& status, const SweepStrip& strip,
                 const StripPlace& place) {
  const float size = 0.25f * ImGui::GetFontSize();
  for (std::size_t i = 0; i < status.runs.size(); ++i) {
    const SweepRun& run = status.runs[i];
    if (run.end != SweepRun::End::finished) {
      const ImVec2 at = place.at(i, 0);
      list.AddLine({at.x - size, at.y - size}, {at.x + size, at.y + size}, theme::bad, 2);
      list.AddLine({at.x - size, at.y + size}, {at.x + size, at.y - size}, theme::bad, 2);
    }
    if (!strip.heights[i]) continue;
    const ImVec2 at = place.at(i, *strip.heights[i]);
    if (i > 0 && strip.heights[i - 1])
      list.AddLine(place.at(i - 1, *strip.heights[i - 1]), at, theme::dim_text, 1);
    const bool is_present = status.present && run.value == status.present->value;
    list.AddCircleFilled(at, size, is_present ? theme::good : theme::accent);
  }
}

void draw_labels(ImDrawList& list, const SweepStatus& status, const SweepStrip& strip,
                 const StripPlace& place) {
  const float text = ImGui::GetFontSize();
  const auto add = [&](float x, float y, const std::string& label) {
    list.AddText({x, y}, theme::dim_text, label.c_str());
  };
  const auto add_edge = [&](float y, double value) {
    const std::string label = short_text(value);
    add(place.low.x - 0.3f * text - ImGui::CalcTextSize(label.c_str()).x, y, label);
  };
  add_edge(place.low.y, strip.high);
  add_edge(place.high.y - 1.1f * text, strip.low);
  float free_from = place.low.x;
  for (std::size_t i = 0; i < status.values.size(); ++i) {
    const std::string label = short_text(status.values[i]);
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    const float left = place.at(i, 0).x - 0.5f * width;
    if (left < free_from && i > 0) continue;
    add(left, place.high.y + 0.1f * text, label);
    free_from = left + width + 0.5f * text;
  }
}

/// Puts the value of a column that is clicked into the scene.
void react(PanelContext& context, const StripPlace& place) {
  const SweepStatus& status = context.sweep.status();
  const float x = ImGui::GetMousePos().x;
  if (!ImGui::IsItemHovered() || x < place.low.x || x >= place.high.x) return;
  const auto column = static_cast<std::size_t>((x - place.low.x) / place.pitch());
  if (column >= status.runs.size()) return;
  const SweepRun& run = status.runs[column];
  tooltip(point_text(run, status));
  const auto& scene = context.simulation.frame().scene;
  const bool same_scene = scene && scene->name == status.state->scene;
  if (same_scene && run.end == SweepRun::End::finished && ImGui::IsItemClicked())
    context.simulation.post(sweep_edit(find_sweep_key(status.request.key), run.value));
}

void draw_strip(PanelContext& context) {
  const SweepStatus& status = context.sweep.status();
  const SweepStrip strip = sweep_strip(status, sweep_measures()[context.view.sweep_measure]);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(ImGui::GetContentRegionAvail().x, em(10)), em(14)};
  ImGui::InvisibleButton("strip", size);
  const float text = ImGui::GetFontSize();
  const float labels = std::max(ImGui::CalcTextSize(short_text(strip.low).c_str()).x,
                                ImGui::CalcTextSize(short_text(strip.high).c_str()).x);
  const StripPlace place{{origin.x + labels + 0.4f * text, origin.y},
                         {origin.x + size.x, origin.y + size.y - 1.3f * text},
                         status.values.size()};
  list.AddRectFilled(place.low, place.high, theme::plot_background, 2);
  if (strip.present) {
    const float y = place.at(0, *strip.present).y;
    list.AddLine({place.low.x, y}, {place.high.x, y}, theme::plot_grid);
  }
  draw_points(list, status, strip, place);
  draw_labels(list, status, strip, place);
  react(context, place);
}

void draw_results(PanelContext& context) {
  const SweepStatus& status = context.sweep.status();
  if (!status.state) return;
  const std::string key = status.request.key;
  ImGui::PushTextWrapPos();
  text_colored(theme::dim_text, key + ", from frame " + std::to_string(status.state->start.state.frame) +
                                    " of " + status.state->scene + ": " + std::to_string(status.runs.size()) +
                                    " of " + counted(static_cast<long>(status.values.size()), "value"));
  ImGui::PopTextWrapPos();
  if (!status.file.empty()) tooltip(status.file.string());
  for (const std::string* text : {&status.error, &status.note})
    if (!text->empty()) text_colored(theme::bad, *text);
  if (status.present && status.present->end != SweepRun::End::finished) {
    text_colored(theme::bad, "the run with the present value " + std::string(name_of(status.present->end)));
    tooltip(status.present->message);
  }
  if (!status.values.empty()) draw_strip(context);
}

}  // namespace

void draw_sweep(PanelContext& context) {
  const std::shared_ptr<const Scene> scene = context.simulation.frame().scene;
  if (!scene) return;
  // A script's sweep is shown unless the user has closed this.
  if (context.sweep.status().state) ImGui::SetNextItemOpen(true, ImGuiCond_Once);
  if (!ImGui::TreeNodeEx("Sweep over a parameter", ImGuiTreeNodeFlags_SpanAvailWidth)) return;
  ImGui::Unindent();
  ImGui::PushID("sweep");
  if (context.view.sweep.key.empty()) choose_key(context.view.sweep, "mu", context.simulation.settings());
  draw_keys(context, scene->model);
  draw_range(context.view.sweep);
  draw_buttons(context);
  draw_results(context);
  ImGui::PopID();
  ImGui::Indent();
  ImGui::TreePop();
}

}  // namespace stickslip
