// Part of the lab: the slider over the iterations of the highlighted solver.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

constexpr float kSliderWidth = 40;  // [em]

void draw_buttons(PanelContext& context) {
  IterationScrub& scrub = context.iterations;
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

void draw_slider(IterationScrub& scrub) {
  const std::vector<ScrubStop>& stops = scrub.stops();
  const auto last = static_cast<float>(stops.size() - 1);
  float position = stops.size() > 1 ? static_cast<float>(scrub.stop()) / last : 1.0f;
  const std::string text = "Iteration " + std::to_string(stops[scrub.stop()].iteration) + " of " +
                           std::to_string(stops.back().iteration);
  ImGui::BeginDisabled(stops.size() < 2);
  same_line_within(em(kSliderWidth));
  ImGui::SetNextItemWidth(std::min(em(kSliderWidth), ImGui::GetContentRegionAvail().x));
  if (filled_slider("##iteration", position, text)) {
    const auto stop = static_cast<std::size_t>(std::lround(position * last));
    if (stop != scrub.stop() || !scrub.figures()) {
      scrub.play(false);
      scrub.show(stop);
    }
  }
  ImGui::EndDisabled();
  tooltip(
      "The impulses of " + scrub.solver() +
      " after so many iterations: in the scene, as far as overlays of contacts are on, and in numbers. The "
      "scene shows its own contacts again when the run goes on");
}

void draw_figures(PanelContext& context) {
  const IterationScrub& scrub = context.iterations;
  char text[160];
  std::snprintf(text, sizeof text, "residual %.1e", scrub.stops()[scrub.stop()].residual);
  text_colored(theme::text, text);
  const auto add = [](ImU32 color, const std::string& more) {
    same_line_for_text(more);
    text_colored(color, fit_text(more, ImGui::GetContentRegionAvail().x));
  };
  if (const std::optional<ScrubFigures>& figures = scrub.figures()) {
    add(theme::text, "largest impulse " + si_text(figures->largest, "N s"));
    std::snprintf(text, sizeof text, "%d stick   %d slip   %d open", figures->sticks, figures->slips,
                  figures->open);
    add(theme::text, text);
  } else {
    add(theme::dim_text, scrub.is_solving() ? "solving ..." : "Move the slider to see the impulses");
  }
  if (scrub.is_in_scene() && !shows_contacts(context.view.overlays))
    add(theme::dim_text,
        "no overlay of contacts is on: " + shortcut(ActionId::toggle_arrows) + " shows forces");
  if (const std::string note = scrub.note(); !note.empty()) {
    add(theme::warning, note);
    tooltip(note);
  }
}

}  // namespace

void draw_iterations(PanelContext& context) {
  if (context.iterations.stops().empty()) return;
  draw_buttons(context);
  draw_slider(context.iterations);
  draw_figures(context);
}

}  // namespace stickslip
