#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {

void draw_scene_panel(PanelContext& context) {
  if (!section("Scene")) return;
  const std::shared_ptr<const Scene>& current = context.simulation.frame().scene;
  for (const SceneInfo& info : context.scenes) {
    const bool selected = current && current->file == info.file;
    ImGui::PushID(info.name.c_str());
    if (ImGui::Selectable("", selected)) context.simulation.post(LoadScene{info.file.string()});
    tooltip(selected && !current->description.empty() ? current->description : info.title);
    ImGui::SameLine(em(1));
    ImGui::TextUnformatted(info.name.c_str());
    ImGui::SameLine(em(12));
    text_colored(theme::dim_text, fit_text(info.title, ImGui::GetContentRegionAvail().x));
    ImGui::PopID();
  }
  if (!current) return;
  if (ImGui::SmallButton("Reload")) context.simulation.post(LoadScene{current->file.string()});
  tooltip("Read the scene's file again");
  ImGui::SameLine();
  const Model& model = current->model;
  ImGui::TextDisabled("%zu nodes, %zu tets", model.node_count(), model.tets.size());
}

}  // namespace stickslip
