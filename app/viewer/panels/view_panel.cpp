#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"
#include "gpu/energy/solid_stress.h"
#include "gpu/energy/thin_strain.h"
#include "gpu/params/params.h"

namespace stickslip {
namespace {

/// A check box for each overlay that applies to the scene.
void draw_overlay_boxes(PanelContext& context, const Model& model) {
  bool first = true;
  for (const OverlayInfo& overlay : overlay_table()) {
    if (!overlay.is_offered(model)) continue;
    if (!std::exchange(first, false)) same_line_for(overlay.label.data());
    ImGui::Checkbox(overlay.label.data(), &(context.view.overlays.*overlay.flag));
    tooltip(std::string(overlay.meaning) + "  [" + overlay.key + "]");
  }
}

/// Which boxes `tree` shows.
void draw_tree_level(ViewState& view, std::span<const TreeBox> tree) {
  row_label("Tree", em(16), "Boxes of the tree in which the last step searched for contacts");
  if (tree.empty()) return text_colored(theme::dim_text, "none: no step led to this state");
  int deepest = 0, count = 0;
  for (const TreeBox& box : tree) {
    deepest = std::max(deepest, static_cast<int>(box.depth));
    count += box.is_on_level(view.tree_level);
  }
  // A level below the last one shows all leaves, too.
  const int level = std::min(view.tree_level, deepest);
  std::string text = "level " + std::to_string(level) + " of ";
  text.append(std::to_string(deepest))
      .append(", ")
      .append(std::to_string(count))
      .append(count == 1 ? " box" : " boxes");
  float position = deepest > 0 ? static_cast<float>(level) / static_cast<float>(deepest) : 0;
  ImGui::SetNextItemWidth(-1);
  if (filled_slider("##tree level", position, text))
    view.tree_level = static_cast<int>(std::lround(position * static_cast<float>(deepest)));
  tooltip(
      "Boxes of this depth, and leaves above it: each triangle of a surface (at velocity level each rigid "
      "body) is in one of them. The last level shows all leaves. Of more than 5000 boxes a part is drawn");
}

enum class Mark { disc, ring };

/// Mark, name, number and a check box that hides it.
void legend_row(Mark mark, const Vec3f& color, const char* name, const char* meaning, int count,
                bool& shown) {
  const float size = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 center{at.x + 0.4f * size, at.y + 0.5f * size};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (mark == Mark::disc) list.AddCircleFilled(center, 0.24f * size, theme::rgb(color));
  else list.AddCircle(center, 0.32f * size, theme::rgb(color), 0, 0.1f * size);
  ImGui::Dummy({0.8f * size, size});
  ImGui::SameLine();
  ImGui::Checkbox(name, &shown);
  tooltip(meaning);
  ImGui::SameLine(em(21));
  ImGui::AlignTextToFramePadding();
  ImGui::Text("%d", count);
}

/// The colours of a scale with the numbers at its ends.
void draw_color_bar(const std::string& low, const std::string& high, std::string_view meaning) {
  const float gap = ImGui::GetStyle().ItemSpacing.x, height = 0.6f * ImGui::GetTextLineHeight();
  text_colored(theme::text, low);
  ImGui::SameLine();
  const float width = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(high.c_str()).x - gap;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  constexpr int kSteps = 48;
  for (int i = 0; i < kSteps; ++i) {
    const float from = at.x + width * static_cast<float>(i) / kSteps,
                to = at.x + width * static_cast<float>(i + 1) / kSteps;
    ImGui::GetWindowDrawList()->AddRectFilled(
        {from, at.y + 0.3f * height}, {to, at.y + 1.3f * height},
        theme::rgb(scale_color((static_cast<float>(i) + 0.5f) / kSteps)));
  }
  ImGui::Dummy({std::max(1.0f, width), ImGui::GetTextLineHeight()});
  tooltip(std::string(meaning));
  ImGui::SameLine();
  text_colored(theme::text, high);
}

/// A number at the end of a scale; shares are percent.
std::string end_text(float value, std::string_view unit) {
  if (unit == "1") {
    char text[32];
    std::snprintf(text, sizeof text, 100 * value < 10 ? "%.2g%%" : "%.0f%%",
                  100 * static_cast<double>(value));
    return text;
  }
  return si_text(static_cast<double>(value), unit.data());
}

/// What the colours of surfaces say. `most`: end of their scale; < 0: they have none.
void draw_surface_colors(SurfaceColors& surfaces, const Model& model, float least, float most) {
  const SurfaceColorsInfo& chosen = surface_colors_table()[static_cast<std::size_t>(surfaces)];
  row_label("Surfaces", em(16), "What the colours of surfaces say: " + std::string(chosen.meaning));
  ImGui::SetNextItemWidth(-1);
  if (begin_choices("##surfaces", std::string(chosen.label))) {
    for (const SurfaceColorsInfo& info : surface_colors_table()) {
      const bool is_offered = offered_colors(info.colors, model) == info.colors;
      ImGui::BeginDisabled(!is_offered);
      if (ImGui::Selectable(info.label.data(), info.colors == surfaces)) surfaces = info.colors;
      tooltip((is_offered ? "" : "nothing in this scene has it: ") + std::string(info.meaning));
      ImGui::EndDisabled();
    }
    ImGui::EndCombo();
  }
  if (!surface_colors_table()[static_cast<std::size_t>(surfaces)].is_scale) return;
  if (most >= 0)
    return draw_color_bar(least > 0 ? end_text(least, chosen.unit) : "0", end_text(most, chosen.unit),
                          chosen.meaning);
  if (surfaces == SurfaceColors::stiffness)
    return text_colored(theme::dim_text, "nothing elastic, or not of the last step");
  text_colored(theme::dim_text, "nothing here has it");
  tooltip("Or there are too many elements for each picture: more than " +
          std::to_string(SolidStress::kMostTets) + " tets, or " + std::to_string(ThinStrain::kMostElements) +
          " triangles and segments");
}

/// What the arrows of forces stand for.
void draw_force_arrows(ForceArrows& arrows) {
  row_label("Forces of", em(16),
            "What an arrow of a force stands for: " +
                std::string(force_arrows_table()[static_cast<std::size_t>(arrows)].meaning));
  ImGui::SetNextItemWidth(-1);
  if (!begin_choices("##arrows", std::string(force_arrows_table()[static_cast<std::size_t>(arrows)].label)))
    return;
  for (const ForceArrowsInfo& info : force_arrows_table()) {
    if (ImGui::Selectable(info.label.data(), info.arrows == arrows)) arrows = info.arrows;
    tooltip(std::string(info.meaning));
  }
  ImGui::EndCombo();
}

/// What the colours of contacts say.
void draw_scale(ViewState& view, std::span<const ContactRecord> contacts) {
  const ContactScaleInfo& chosen = contact_scale_table()[static_cast<std::size_t>(view.scale)];
  row_label("Colours", em(16), "What the colours of contacts say: " + std::string(chosen.meaning));
  ImGui::SetNextItemWidth(-1);
  if (begin_choices("##scale", std::string(chosen.label))) {
    for (const ContactScaleInfo& info : contact_scale_table()) {
      if (ImGui::Selectable(info.label.data(), info.scale == view.scale)) view.scale = info.scale;
      tooltip(std::string(info.meaning));
    }
    ImGui::EndCombo();
  }
  if (view.scale == ContactScale::state) return;
  const ScaleRange range = scale_range(contacts, view.scale);
  draw_color_bar(end_text(range.low, chosen.unit), end_text(range.high, chosen.unit), chosen.meaning);
}

/// `alone`: pictures show the scene without panels.
void draw_picture_settings(PictureSettings& pictures, bool alone) {
  row_label("Screenshots", em(16), "Size and ground of the pictures that F12 takes");
  ImGui::BeginDisabled(!alone);
  ImGui::SetNextItemWidth(em(9));
  if (begin_choices("##picture size", std::to_string(pictures.scale) + "x")) {
    for (const int scale : {1, 2, 3, 4})
      if (ImGui::Selectable((std::to_string(scale) + "x").c_str(), scale == pictures.scale))
        pictures.scale = scale;
    ImGui::EndCombo();
  }
  tooltip(alone ? "Size over that of the window" : "Pictures with panels have the window's size");
  same_line_for("transparent");
  ImGui::Checkbox("transparent", &pictures.transparent);
  tooltip(alone ? "Without ground and sky" : "Pictures with panels are opaque");
  ImGui::EndDisabled();
  row_label("Video", em(16), "Of the videos that Ctrl+Shift+R makes");
  ImGui::SetNextItemWidth(em(9));
  if (begin_choices("##video rate", std::to_string(pictures.rate) + " /s")) {
    for (const int rate : {24, 25, 30, 50, 60, 120})
      if (ImGui::Selectable((std::to_string(rate) + " /s").c_str(), rate == pictures.rate))
        pictures.rate = rate;
    ImGui::EndCombo();
  }
  tooltip("Pictures per simulated second of the next video");
}

/// The way of the positions from the engine into pictures.
void draw_position_row(const WindowFigures& figures) {
  row_label("Positions", em(16), "How node positions get from the engine into pictures");
  const std::string bytes =
      figures.position_bytes == 0 ? "0 B" : si_text(static_cast<double>(figures.position_bytes), "B");
  text_colored(theme::dim_text, fit_text(figures.positions, ImGui::GetContentRegionAvail().x - em(9)));
  tooltip("How node positions get from the engine into pictures: " + figures.positions + "\n" + bytes +
          " copied by the host for the last picture");
  ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(bytes.c_str()).x);
  text_colored(theme::dim_text, bytes);
}

/// A slider beside its name.
void draw_clip_slider(const char* label, const char* meaning, float& value, float low, float high,
                      const char* format) {
  row_label(label, em(16), meaning);
  ImGui::SetNextItemWidth(-1);
  ImGui::PushID(label);
  ImGui::SliderFloat("##value", &value, low, high, format, ImGuiSliderFlags_AlwaysClamp);
  ImGui::PopID();
  tooltip(meaning);
}

/// The clipping plane and the x-ray view.
void draw_clip(ViewState& view) {
  const auto box = [](ActionId id, bool& on) {
    const Action& action = action_table()[static_cast<std::size_t>(id)];
    ImGui::Checkbox(action.label.data(), &on);
    tooltip(std::string(action.meaning) + "  [" + shortcut(id) + "]");
  };
  ClipChoice& clip = view.clip;
  box(ActionId::toggle_clip, clip.on);
  same_line_for("X-ray");
  box(ActionId::toggle_x_ray, clip.x_ray);
  if (clip.on) {
    const char* const what = view.selection ? "the selected object's middle" : "the scene's middle";
    draw_clip_slider("Heading", "Of the side that is taken away, about the vertical: 0 is +z, 90 is +x",
                     clip.heading, -180, 180, "%.0f deg");
    draw_clip_slider("Tilt", "Of that side above the horizon", clip.tilt, -90, 90, "%.0f deg");
    draw_clip_slider("Plane at", (std::string("From ") + what + ", in radii").c_str(), clip.position, -1, 1,
                     "%.2f");
  }
  if (clip.x_ray)
    draw_clip_slider("Opacity", "Share of the pixels of bodies that are drawn", clip.opacity, 0.0625f,
                     0.9375f, "%.2f");
}

}  // namespace

void draw_view_panel(PanelContext& context) {
  if (!section("View")) return;
  ViewState& view = context.view;
  const SimulationFrame& shown = context.simulation.frame();
  const bool impulses = context.simulation.settings().params.solver == SolverKind::velocity;
  draw_overlay_boxes(context, shown.scene ? shown.scene->model : Model{});

  if (view.overlays.tree) draw_tree_level(view, shown.snapshot.tree);
  std::array<int, kShownStates> counts{};
  int augmented = 0;
  const float error_limit = context.simulation.error_limit();
  for (const ContactRecord& contact : context.simulation.frame().snapshot.contacts) {
    ++counts[static_cast<std::size_t>(shown_state(contact, error_limit))];
    augmented += contact.augmented;
  }
  if (view.overlays.arrows) draw_force_arrows(view.arrows);
  if (shows_contacts(view.overlays)) {
    draw_scale(view, context.simulation.frame().snapshot.contacts);
    const bool by_state = view.scale == ContactScale::state;
    const auto state_row = [&](ShownState state, const char* meaning, bool& shown) {
      legend_row(Mark::disc, by_state ? contact_color(state) : Vec3f{0.5f, 0.5f, 0.5f}, name_of(state).data(),
                 meaning, counts[static_cast<std::size_t>(state)], shown);
    };
    state_row(ShownState::stick,
              impulses ? "friction is inside its cone" : "slower than eps_v: static friction",
              view.filter.stick);
    state_row(ShownState::slip, "sliding: friction has its full size", view.filter.slip);
    state_row(ShownState::open,
              impulses ? "within contact_margin, without a noticeable force"
                       : "within d_hat, without a noticeable force",
              view.filter.open);
    state_row(ShownState::unconverged,
              impulses
                  ? "its own error e_c exceeds the tolerance of the solve: the impulse misses Coulomb's law"
                  : "its own error e_c exceeds 2 (d_hat / dt + 2 eps_v), more than a barrier explains",
              view.filter.unconverged);
  }
  if (view.overlays.contacts && !impulses)
    legend_row(Mark::ring, multiplier_color(), "multiplier",
               "closer than augmentation_gap of d_hat: solver = barrier_al holds it open by a multiplier",
               augmented, view.overlays.multipliers);
  row_label("Quality", em(16), "Shadows, light and smoothing: more of them take longer for each picture");
  ImGui::SetNextItemWidth(-1);
  if (begin_choices("##quality", std::string(quality_name(view.quality)))) {
    for (const Quality quality : {Quality::light, Quality::medium, Quality::high})
      if (ImGui::Selectable(quality_name(quality).data(), quality == view.quality)) view.quality = quality;
    ImGui::EndCombo();
  }
  tooltip(context.window.device);
  draw_clip(view);
  ImGui::Checkbox("Panels in pictures and videos", &view.panels_in_pictures);
  tooltip("Whether screenshots and videos show the window as it is, or the scene alone");
  const auto is_patterned = [&](const Object& object) { return has_pattern(shown.scene->model, object); };
  if (shown.scene && std::ranges::any_of(shown.scene->model.objects, is_patterned)) {
    ImGui::Checkbox("Patterns", &view.patterns);
    tooltip(
        "Threads of cloth, cells around rods, octants of balls, checkers of other bodies: they move with the "
        "material  [" +
        shortcut(ActionId::toggle_patterns) + "]");
  }
  static const Model no_model;
  draw_surface_colors(view.surfaces, shown.scene ? shown.scene->model : no_model, context.window.least_heat,
                      context.window.most_heat);
  draw_picture_settings(view.pictures, !view.panels_in_pictures);
  draw_position_row(context.window);
}

}  // namespace stickslip
