#include <algorithm>
#include <utility>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"
#include "gpu/model/element_group.h"

namespace stickslip {

namespace {

/// Buttons that show scenes of one kind alone.
void draw_kinds(std::optional<SceneKind>& chosen) {
  const auto draw = [&](const char* label, const char* meaning, std::optional<SceneKind> kind) {
    if (kind) same_line_for(label);
    if (ImGui::RadioButton(label, chosen == kind)) chosen = kind;
    tooltip(meaning);
  };
  draw("all", "All scenes", {});
  draw("solids", "Deformable and affine solids", SceneKind::solids);
  draw("rigid", "Rigid bodies", SceneKind::rigid);
  draw("thin", "Cloth, hair and rods", SceneKind::thin);
  draw("mixed", "Bodies of several kinds", SceneKind::mixed);
}

/// The list of shipped scenes; it scrolls.
void draw_list(PanelContext& context, const std::shared_ptr<const Scene>& current) {
  constexpr std::size_t most_rows = 10;
  std::string& filter = context.view.scene_filter;
  filter_field("##find scene", "Find a scene", filter);
  draw_kinds(context.view.scene_kind);
  const auto rows = static_cast<float>(std::min(context.scenes.size(), most_rows));
  ImGui::BeginChild("scenes", {0, rows * ImGui::GetTextLineHeightWithSpacing()});
  // Most scene names fit before the titles; long ones shift their title to the right.
  const float column = em(14), gap = em(1);
  int& shown = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("shown"), -1);
  for (std::size_t i = 0; i < context.scenes.size(); ++i) {
    const SceneInfo& info = context.scenes[i];
    const bool selected = current && current->file == info.file;
    if (context.view.scene_kind && *context.view.scene_kind != info.kind) continue;
    if (!passes_filter(filter, {info.name, info.title, info.description})) continue;
    ImGui::PushID(info.name.c_str());
    if (ImGui::Selectable("", selected)) context.simulation.post(LoadScene{info.file.string()});
    if (selected && std::exchange(shown, static_cast<int>(i)) != static_cast<int>(i)) ImGui::SetScrollHereY();
    tooltip(selected && !current->description.empty() ? current->description : info.title);
    ImGui::SameLine(em(1));
    ImGui::TextUnformatted(info.name.c_str());
    ImGui::SameLine(std::max(column, em(1) + ImGui::CalcTextSize(info.name.c_str()).x + gap));
    text_colored(theme::dim_text, fit_text(info.title, ImGui::GetContentRegionAvail().x));
    ImGui::PopID();
  }
  ImGui::EndChild();
}

/// Chooses one of the scene's variants, which loads the scene with it.
void draw_variants(PanelContext& context, const Scene& scene) {
  const std::string none = "none";
  const auto choice = [&](const std::string& label, const std::string& name, const std::string& description) {
    if (ImGui::Selectable(label.c_str(), scene.variant == name))
      context.simulation.post(LoadScene{scene.file.string(), name});
    tooltip(description);
  };
  ImGui::SetNextItemWidth(em(18));
  const std::string& shown = scene.variant.empty() ? none : scene.variant;
  if (begin_choices("Variant", shown)) {
    choice(none, "", "The scene as its file describes it");
    for (const Variant& variant : scene.variants) choice(variant.name, variant.name, variant.description);
    ImGui::EndCombo();
    return;
  }
  const auto chosen = std::ranges::find(scene.variants, scene.variant, &Variant::name);
  tooltip(chosen != scene.variants.end() && !chosen->description.empty()
              ? chosen->description
              : "Load the scene with other settings of its file");
}

}  // namespace

void draw_scene_panel(PanelContext& context) {
  if (!section("Scene")) return;
  const std::shared_ptr<const Scene>& current = context.simulation.frame().scene;
  if (!context.scenes.empty()) draw_list(context, current);
  if (!current) return;
  if (!current->variants.empty()) draw_variants(context, *current);
  if (ImGui::SmallButton("Reload"))
    context.simulation.post(LoadScene{current->file.string(), current->variant});
  tooltip("Read the scene's file again");
  ImGui::SameLine();
  const Model& model = current->model;
  const TetCount tets = count_tets(model);
  if (tets.all() == 0 && model.bodies.empty())
    ImGui::TextDisabled("%zu nodes, %zu triangles", model.node_count(), model.triangles.size());
  else if (model.bodies.empty()) ImGui::TextDisabled("%zu nodes, %zu tets", model.node_count(), tets.all());
  else
    ImGui::TextDisabled("%zu bodies, %zu joints, %zu tets", model.bodies.size(), model.joints.size(),
                        tets.all());
}

}  // namespace stickslip
