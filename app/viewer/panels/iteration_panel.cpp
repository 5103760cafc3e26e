// Parts of the lab: sliders over the iterations of the highlighted solver, and over those of one step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/plot.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr float kSliderWidth = 40;  // [em]

template <class Scrub>
void draw_buttons(PanelContext& context, Scrub& scrub) {
  const std::size_t stop = scrub.stop();
  const auto arrow = [&](const char* id, ImGuiDir direction, bool has_next, const char* meaning) {
    ImGui::BeginDisabled(!has_next);
    ImGui::PushButtonRepeat(true);
    if (ImGui::ArrowButton(id, direction)) scrub.show(direction == ImGuiDir_Left ? stop - 1 : stop + 1);
    ImGui::PopButtonRepeat();
    ImGui::EndDisabled();
    tooltip(meaning);
    ImGui::SameLine();
  };
  arrow("##before", ImGuiDir_Left, stop > 0, "The iteration before");
  arrow("##after", ImGuiDir_Right, stop + 1 < scrub.stops().size(), "The next iteration");
  const bool runs = context.simulation.status().playing;
  ImGui::BeginDisabled(runs);
  if (ImGui::Button(scrub.is_playing() ? "Stop" : "Run through")) scrub.play(!scrub.is_playing());
  ImGui::EndDisabled();
  tooltip(runs ? "Pause the scene first" : "One iteration after the other");
}

/// `is_known`: what the stop shows.
template <class Scrub>
void draw_slider(Scrub& scrub, bool is_known, const std::string& meaning) {
  const auto& stops = scrub.stops();
  const auto last = static_cast<float>(stops.size() - 1);
  float position = stops.size() > 1 ? static_cast<float>(scrub.stop()) / last : 1.0f;
  const std::string text = "Iteration " + std::to_string(stops[scrub.stop()].iteration) + " of " +
                           std::to_string(stops.back().iteration);
  ImGui::BeginDisabled(stops.size() < 2);
  same_line_within(em(kSliderWidth));
  ImGui::SetNextItemWidth(std::min(em(kSliderWidth), ImGui::GetContentRegionAvail().x));
  if (filled_slider("##iteration", position, text)) {
    const auto stop = static_cast<std::size_t>(std::lround(position * last));
    if (stop != scrub.stop() || !is_known) {
      scrub.play(false);
      scrub.show(stop);
    }
  }
  ImGui::EndDisabled();
  tooltip(meaning);
}

/// Text after what is in the row, cut where the panel ends.
void add_text(ImU32 color, const std::string& more) {
  same_line_for_text(more);
  text_colored(color, fit_text(more, ImGui::GetContentRegionAvail().x));
}

void draw_figures(PanelContext& context) {
  const IterationScrub& scrub = context.iterations;
  char text[160];
  std::snprintf(text, sizeof text, "residual %.1e", scrub.stops()[scrub.stop()].residual);
  text_colored(theme::text, text);
  if (const std::optional<ScrubFigures>& figures = scrub.figures()) {
    add_text(theme::text, "largest impulse " + si_text(figures->largest, "N s"));
    std::snprintf(text, sizeof text, "%d stick   %d slip   %d open", figures->sticks, figures->slips,
                  figures->open);
    add_text(theme::text, text);
  } else {
    add_text(theme::dim_text, scrub.is_solving() ? "solving ..." : "Move the slider to see the impulses");
  }
  if (scrub.is_in_scene() && !shows_contacts(context.view.overlays))
    add_text(theme::dim_text,
             "no overlay of contacts is on: " + shortcut(ActionId::toggle_arrows) + " shows forces");
  if (const std::string note = scrub.note(); !note.empty()) {
    add_text(theme::warning, note);
    tooltip(note);
  }
}

void draw_step(const StepScrubStatus& status) {
  const CapturedState& state = *status.state;
  std::string text = state.scene + ", the step after frame " + std::to_string(state.start.state.frame) +
                     " by " + state.solver;
  if (!status.iterates.empty())
    text += ": " + counted(status.iterates.back().iteration, "iteration") + ", " + status.end;
  ImGui::TextWrapped("%s", text.c_str());
  if (!status.error.empty()) text_colored(theme::bad, status.error);
}

/// Of the Newton iteration that leads to the shown iterate.
void draw_step_figures(const StepScrub& scrub) {
  const NewtonRecord& record = scrub.stops()[scrub.stop()].record;
  char text[160];
  std::snprintf(text, sizeof text, "gradient %.2e N", record.gradient_norm);
  text_colored(theme::text, text);
  tooltip("Norm of the gradient that the iteration begins with");
  std::snprintf(text, sizeof text, "step length %.3g", record.step_length);
  add_text(theme::text, text);
  tooltip("The part of the Newton step that the line search took");
  std::snprintf(text, sizeof text, "CCD allows %.3g", record.ccd_bound);
  add_text(record.ccd_bound < 1 ? theme::warning : theme::text, text);
  std::snprintf(text, sizeof text, "%d PCG", record.pcg_iterations);
  add_text(theme::text, text);
  if (const Snapshot* shown = scrub.shown()) {
    add_text(theme::text, counted(static_cast<long>(shown->contacts.size()), "contact"));
    if (const float distance = scrub.distance_to_end(); distance >= 0) {
      add_text(theme::text, si_text(static_cast<double>(distance), "m") + " from the end");
      tooltip("The largest distance of a node from where the step ends");
    }
  } else add_text(theme::dim_text, scrub.is_solving() ? "making the step ..." : "not known");
  if (!scrub.status().note.empty()) {
    add_text(theme::warning, scrub.status().note);
    tooltip(scrub.status().note);
  }
}

/// Gradients of all stops; the line is thick up to the shown one.
void draw_gradients(const StepScrub& scrub) {
  const std::vector<StepIterate>& stops = scrub.stops();
  if (stops.size() < 2) return;
  std::vector<float> x, all, so_far;
  for (const StepIterate& stop : stops) {
    x.push_back(static_cast<float>(stop.iteration));
    all.push_back(static_cast<float>(stop.record.gradient_norm));
    so_far.push_back(x.size() <= scrub.stop() + 1 ? all.back() : std::numeric_limits<float>::quiet_NaN());
  }
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const PlotSeries lines[] = {{"gradient", theme::wheel(0), std::move(all), false, 1.0f},
                              {"up to the shown one", theme::wheel(0), std::move(so_far), false, 3.5f}};
  draw_plot("gradients", {room.x, std::max(room.y, em(14))}, x, {"Newton iteration"}, lines,
            {"Gradient, N", true});
}

}  // namespace

void draw_iterations(PanelContext& context) {
  if (context.iterations.stops().empty()) return;
  const IterationScrub& scrub = context.iterations;
  draw_buttons(context, context.iterations);
  draw_slider(context.iterations, scrub.figures().has_value(),
              "The impulses of " + scrub.solver() +
                  " after so many iterations: in the scene, as far as overlays of contacts are on, and in "
                  "numbers. The scene shows its own contacts again when the run goes on");
  draw_figures(context);
}

void draw_step_iterations(PanelContext& context) {
  StepScrub& scrub = context.step;
  const Action& action = action_table()[static_cast<std::size_t>(ActionId::step_iterations)];
  const std::string why_not = inactive_reason(ActionId::step_iterations, context.simulation);
  ImGui::BeginDisabled(!why_not.empty());
  if (action_button("Next step", std::string(action.meaning), shortcut(ActionId::step_iterations)))
    context.act(ActionId::step_iterations);
  ImGui::EndDisabled();
  if (!why_not.empty()) tooltip(why_not);
  if (scrub.is_solving()) {
    same_line_for_button("Cancel");
    if (ImGui::Button("Cancel")) scrub.cancel();
    tooltip("The iterates that are not known yet are left out");
  }
  if (!scrub.status().state) {
    ImGui::PushTextWrapPos();
    ImGui::TextDisabled(
        "%s", why_not.empty() ? "No step yet: Next step makes one, and the scene stays." : why_not.c_str());
    ImGui::PopTextWrapPos();
    return;
  }
  draw_step(scrub.status());
  if (scrub.stops().empty()) return;
  draw_buttons(context, scrub);
  draw_slider(
      scrub, scrub.shown() != nullptr,
      "Where the bodies are after so many Newton iterations, as outlines over the paused scene, and the "
      "contacts there, as far as their overlays are on");
  draw_step_figures(scrub);
  draw_gradients(scrub);
}

}  // namespace stickslip
