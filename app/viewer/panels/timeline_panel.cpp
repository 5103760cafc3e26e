// The strip under the scene that shows and moves the time, and the section about it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// Maps frames to the pixels of the strip.
struct Track {
  ImVec2 from, to;  // corners
  TimelineExtent kept;

  float x(int frame) const {
    const float share = kept.last > kept.first ? static_cast<float>(frame - kept.first) /
                                                     static_cast<float>(kept.last - kept.first)
                                               : 1.0f;
    return from.x + share * (to.x - from.x);
  }
  int frame(float at) const {
    const float share = std::clamp((at - from.x) / std::max(1.0f, to.x - from.x), 0.0f, 1.0f);
    return kept.first + static_cast<int>(std::lround(share * static_cast<float>(kept.last - kept.first)));
  }
};

void mark_steps(const Track& track, const std::deque<StepReport>& steps) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float drawn = -1;
  for (const StepReport& step : steps) {
    if (step.converged || step.frame < track.kept.first || step.frame > track.kept.last) continue;
    const float x = std::floor(track.x(step.frame));
    if (x == drawn) continue;
    drawn = x;
    list.AddRectFilled({x, track.from.y}, {x + 1, track.to.y}, theme::warning);
  }
}

void draw_track(const Track& track, const Simulation& simulation, const Bookmarks& bookmarks, int now) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float middle = 0.5f * (track.from.y + track.to.y), line = 0.12f * (track.to.y - track.from.y);
  list.AddRectFilled({track.from.x, middle - line}, {track.to.x, middle + line}, theme::plot_grid, line);
  list.AddRectFilled({track.from.x, middle - line}, {track.x(now), middle + line}, theme::accent, line);
  mark_steps(track, simulation.history());
  mark_steps(track, simulation.future());
  for (const int edit : track.kept.edits)
    list.AddRectFilled({track.x(edit) - 0.5f, track.from.y}, {track.x(edit) + 0.5f, track.to.y},
                       theme::dim_text);
  if (const std::optional<int> flag = simulation.status().kept;
      flag && *flag >= track.kept.first && *flag <= track.kept.last) {
    const float x = track.x(*flag), size = 0.3f * (track.to.y - track.from.y);
    list.AddTriangleFilled({x - size, track.from.y}, {x + size, track.from.y},
                           {x, track.from.y + 1.5f * size}, theme::good);
  }
  for (const int mark : bookmarks.frames())
    if (mark >= track.kept.first && mark <= track.kept.last)
      list.AddRectFilled({track.x(mark) - 1.5f, track.from.y}, {track.x(mark) + 1.5f, track.to.y},
                         theme::accent);
  list.AddCircleFilled({track.x(now), middle}, 0.32f * (track.to.y - track.from.y), theme::text);
}

/// "frame 123 of 20 to 456, 7.27 s", or the part of it that leaves the strip at least `strip` of `room`
/// [pixels].
std::string position_text(const TimelineExtent& kept, int now, float room, float strip) {
  char text[96];
  std::snprintf(text, sizeof text, "frame %d of %d to %d, %.3g s", now, kept.first, kept.last, kept.seconds);
  const std::string all = text;
  std::snprintf(text, sizeof text, "%d of %d to %d", now, kept.first, kept.last);
  const std::string frames = text;
  for (const std::string& part : {all, frames, std::to_string(now)})
    if (room - ImGui::CalcTextSize(part.c_str()).x >= strip) return part;
  return {};
}

void draw_arrow(PanelContext& context, ActionId id, ImGuiDir direction) {
  const Action& action = action_table()[static_cast<std::size_t>(id)];
  const std::string reason = inactive_reason(id, context.simulation);
  ImGui::BeginDisabled(!reason.empty());
  if (ImGui::ArrowButton(action.label.data(), direction)) context.act(id);
  tooltip(reason.empty() ? std::string(action.meaning) + "  [" + shortcut(id) + "]" : reason);
  ImGui::EndDisabled();
}

void wire(const char* label, const char* meaning, bool& on) {
  ImGui::Checkbox(label, &on);
  tooltip(meaning);
}

/// A number beside its tripwire, greyed while that is off.
void threshold(const char* id, const char* meaning, bool on, double& value, double low, double high,
               const char* format) {
  ImGui::SameLine(em(26));
  ImGui::SetNextItemWidth(-1);
  ImGui::BeginDisabled(!on);
  ImGui::DragScalar(id, ImGuiDataType_Double, &value, 0.005f * static_cast<float>(high - low), &low, &high,
                    format, ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic);
  tooltip(meaning);
  ImGui::EndDisabled();
}

void draw_tripwires(Simulation& simulation) {
  Tripwires wires = simulation.tripwires();
  text_colored(theme::dim_text, "Pause at a step that");
  wire("does not converge", "Its solver ended before its tolerance", wires.unconverged);
  wire("overlaps by more than", "Surfaces intersect, or a contact is deeper than this", wires.overlap);
  double millimetres = 1e3 * wires.depth;
  threshold("##depth", "The deepest overlap that is let pass", wires.overlap, millimetres, 1e-3, 100,
            "%.3g mm");
  wires.depth = 1e-3 * millimetres;
  wire("gains energy above", "Energy grew by more than the work of scripts and the mouse explains",
       wires.energy);
  double percent = 100 * wires.gain;
  threshold("##gain", "Share of the energy at hand that is let pass", wires.energy, percent, 1e-3, 100,
            "%.3g %%");
  wires.gain = 0.01 * percent;
  wire("has a number that is not finite",
       "A place or a velocity is NaN or infinite: go back, since no later step is better", wires.not_finite);
  wire("has friction adding energy", "The work of friction on all contacts is positive", wires.friction);
  simulation.set_tripwires(wires);
}

void draw_memory(PanelContext& context) {
  const TimelineExtent& kept = context.simulation.status().timeline;
  value_row("States kept", em(16), "%d, %.3g s, %s", kept.empty() ? 0 : kept.last - kept.first + 1,
            kept.seconds, si_text(static_cast<double>(kept.bytes), "B").c_str());
  tooltip("One for each step: how many, their time, their memory. Beyond the limit the oldest go");
  ImGui::AlignTextToFramePadding();
  text_colored(theme::dim_text, "Limit");
  ImGui::SameLine(em(16));
  ImGui::SetNextItemWidth(-1);
  float& limit = context.view.timeline_megabytes;
  if (ImGui::SliderFloat("##limit", &limit, 0, 4096, limit > 0 ? "%.0f MiB" : "none are kept",
                         ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic))
    context.simulation.set_timeline_limit(timeline_bytes(context.view));
  tooltip("Memory for states to go back to; it holds from the next step on");
}

}  // namespace

void draw_timeline(PanelContext& context) {
  Simulation& simulation = context.simulation;
  const TimelineExtent kept = simulation.status().timeline;
  ImGui::AlignTextToFramePadding();
  if (kept.empty()) {
    text_colored(theme::dim_text, "No states are kept to go back to");
    return;
  }
  const int now =
      std::clamp(context.view.scrubbed.value_or(simulation.status().frame), kept.first, kept.last);
  draw_arrow(context, ActionId::step_back, ImGuiDir_Left);
  ImGui::SameLine(0, 1);
  draw_arrow(context, ActionId::step, ImGuiDir_Right);
  ImGui::SameLine();
  const float all = std::max(1.0f, ImGui::GetContentRegionAvail().x - em(2));
  const std::string text = position_text(kept, now, all, em(24));
  const float room = std::max(1.0f, all - ImGui::CalcTextSize(text.c_str()).x);
  const float height = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float inset = 0.4f * height;
  const Track track{{at.x + inset, at.y}, {at.x + room - inset, at.y + height}, kept};
  ImGui::InvisibleButton("timeline", {room, height});
  if (!ImGui::IsItemActive())
    tooltip(
        "Drag to an earlier or later state. Play and Step go on from there, with the present "
        "settings.\nYellow: "
        "steps without convergence; green: the state kept by " +
        shortcut(ActionId::keep_state) + "; blue: marks, by " + shortcut(ActionId::bookmark) +
        "; grey: objects came, went or moved");
  if (ImGui::IsItemActive()) {
    const int wanted = track.frame(ImGui::GetIO().MousePos.x);
    if (wanted != now || simulation.status().playing) simulation.post(Rewind{wanted});
    context.view.scrubbed = wanted;
  } else if (context.view.scrubbed && *context.view.scrubbed == simulation.status().frame) {
    context.view.scrubbed.reset();
  } else if (!ImGui::IsAnyItemActive()) {
    context.view.scrubbed.reset();
  }
  draw_track(track, simulation, context.view.bookmarks, now);
  ImGui::SameLine();
  text_colored(theme::dim_text, text);
}

void draw_time_section(PanelContext& context) {
  if (!section("Time", false)) return;
  draw_memory(context);
  draw_tripwires(context.simulation);
}

}  // namespace stickslip
