#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {

void draw_selection_panel(PanelContext& context) {
  if (!context.view.selection || !section("Selected")) return;
  const ObjectProbe& probe = *context.view.selection;
  const Object& object = probe.description();
  const auto material = static_cast<std::size_t>(object.material);
  const float column = em(16), size = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled(
      {at.x, at.y + 0.15f * size}, {at.x + 0.7f * size, at.y + 0.85f * size}, theme::rgb(object.color), 2);
  ImGui::Dummy({0.8f * size, size});
  ImGui::SameLine();
  ImGui::TextUnformatted(object.name.c_str());
  ImGui::SameLine(ImGui::GetContentRegionMax().x - em(8));
  if (ImGui::SmallButton("Clear")) {
    context.view.selection.reset();
    return;
  }
  value_row("Material", column, "%s", probe.scene()->model.material_names[material].c_str());
  const std::vector<Material>& materials = context.simulation.settings().materials;
  const bool solid = probe.volume() > 0;
  value_row("Mesh", column, solid ? "%d nodes, %d tets" : "%d nodes, %d triangles",
            object.node_end - object.node_begin,
            solid ? object.tet_end - object.tet_begin : object.triangle_end - object.triangle_begin);
  if (solid && material < materials.size())
    value_row("Mass", column, "%s", si_text(1e3 * probe.volume() * materials[material].density, "g").c_str());
  else value_row("Mass", column, "none: a collider");
  const Vec<double, 3> center = probe.center();
  value_row("Centre", column, "%.3f, %.3f, %.3f m", center[0], center[1], center[2]);
  if (const auto velocity = probe.velocity()) {
    const Vec<double, 3>& v = *velocity;
    value_row("Velocity", column, "%.3f, %.3f, %.3f m/s", v[0], v[1], v[2]);
    value_row("Speed", column, "%s", si_text(norm(v), "m/s").c_str());
  } else {
    value_row("Velocity", column, "- until the next step");
    value_row("Speed", column, "-");
  }
  value_row("Contacts", column, "%d: %d stick, %d slip", probe.contacts(), probe.sticking(),
            probe.slipping());
  value_row("Normal force", column, "%s", si_text(probe.normal_force(), "N").c_str());
  tooltip("Sum of the magnitudes over its contacts");
}

}  // namespace stickslip
