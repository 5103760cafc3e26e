// The section "Add": kind, shape, size and material of the next object that comes into the scene.
#include <algorithm>
#include <cstdio>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/theme.h"

namespace stickslip {
namespace {

/// A choice that is greyed with `reason`, unless that is empty. True when it is chosen.
bool choice(const char* label, bool chosen, const std::string& reason, const std::string& meaning) {
  same_line_for(label);
  ImGui::BeginDisabled(!reason.empty());
  const bool pressed = ImGui::RadioButton(label, chosen);
  ImGui::EndDisabled();
  tooltip(reason.empty() ? meaning : reason);
  return pressed;
}

void begin_row(const char* label, const char* meaning) {
  ImGui::AlignTextToFramePadding();
  text_colored(theme::dim_text, label);
  tooltip(meaning);
  ImGui::SameLine(em(12));
  ImGui::SetNextItemWidth(-1);
}

const char* meaning_of(SpawnKind kind) {
  switch (kind) {
    case SpawnKind::rigid:
      return "A rigid body";
    case SpawnKind::elastic:
      return "A deformable solid";
    case SpawnKind::affine:
      return "A nearly rigid solid: 12 degrees of freedom";
    case SpawnKind::cloth:
      return "A square sheet, flat";
    case SpawnKind::rod:
      return "A straight strand, along x";
  }
  return "";
}

/// Sizes, numbers of cells and shapes of one kind do not suit another.
void choose_kind(SpawnRequest& request, SpawnKind kind) {
  request.kind = kind;
  request.shape.reset();
  request.size = 0;
  request.cells = 0;
}

void draw_kinds(PanelContext& context, const Scene& scene, const SpawnRequest& shown) {
  text_colored(theme::dim_text, "Kind");
  for (std::size_t k = 0; k < spawn_kind_names.size(); ++k) {
    const auto kind = static_cast<SpawnKind>(k);
    const std::string reason = spawn_refusal(scene, context.simulation.settings().params, kind);
    if (choice(spawn_kind_names[k].data(), shown.kind == kind, reason, meaning_of(kind)))
      choose_kind(context.view.added, kind);
  }
}

void draw_shapes(SpawnRequest& request, const SpawnRequest& shown) {
  if (shapes_of(*shown.kind).size() == 1) return;
  text_colored(theme::dim_text, "Shape");
  for (const SpawnShape shape : shapes_of(SpawnKind::rigid)) {
    const char* meaning = shape == SpawnShape::mesh ? "The mesh of a file: .msh, .obj, .ply or .stl"
                                                    : "As wide, as high and as deep as its size";
    if (shape == SpawnShape::capsule) meaning = "As high as its size, half as wide";
    if (!choice(name_of(shape).data(), shown.shape == shape, shape_refusal(*shown.kind, shape), meaning))
      continue;
    request.shape = shape;
    request.cells = 0;
  }
}

void draw_file(SpawnRequest& request) {
  char path[1024];
  std::snprintf(path, sizeof path, "%s", request.file.string().c_str());
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##mesh file", "Path of a mesh", path, sizeof path)) request.file = path;
}

void draw_length(const char* label, const char* meaning, double shown, double low, double& value) {
  begin_row(label, meaning);
  auto length = static_cast<float>(shown);
  ImGui::PushID(label);
  if (ImGui::SliderFloat("##length", &length, static_cast<float>(low), 10, "%.4g m",
                         ImGuiSliderFlags_Logarithmic))
    value = static_cast<double>(length);
  ImGui::PopID();
}

void draw_cells(SpawnRequest& request, const SpawnRequest& shown) {
  if (!has_cells(*shown.kind)) return;
  begin_row(shown.kind == SpawnKind::rod ? "Segments" : "Cells",
            "Elements or segments along the size: more of them bend more finely and cost more time, above "
            "all where they are shorter than "
            "contact_margin or d_hat");
  int cells = shown.cells;
  if (ImGui::SliderInt("##cells", &cells, 1, most_cells(*shown.kind), "%d", ImGuiSliderFlags_Logarithmic))
    request.cells = std::clamp(cells, 1, most_cells(*shown.kind));
}

/// Each material with its present mu.
void draw_materials(PanelContext& context, const Model& model, const SpawnRequest& shown) {
  begin_row("Material", "One of the scene's: its friction and stiffness are in the section Materials");
  if (!begin_choices("##added material", shown.material)) return;
  const std::vector<Material>& materials = context.simulation.settings().materials;
  for (std::size_t m = 0; m < model.material_names.size(); ++m) {
    const std::string& name = model.material_names[m];
    if (ImGui::Selectable(name.c_str(), name == shown.material)) context.view.added.material = name;
    char mu[32];
    std::snprintf(mu, sizeof mu, "mu %.3g", m < materials.size() ? materials[m].mu : model.materials[m].mu);
    tooltip(mu);
  }
  ImGui::EndCombo();
}

void draw_button(PanelContext& context, const Scene& scene, const SpawnRequest& shown) {
  std::string reason = inactive_reason(ActionId::add_object, context.simulation);
  if (reason.empty()) reason = spawn_refusal(scene, context.simulation.settings().params, *shown.kind);
  if (reason.empty() && shown.shape == SpawnShape::mesh && shown.file.empty())
    reason = "The path of a mesh is missing";
  const Action& action = action_table()[static_cast<std::size_t>(ActionId::add_object)];
  ImGui::BeginDisabled(!reason.empty());
  if (ImGui::Button(action.label.data(), {-1, 0})) context.act(ActionId::add_object);
  ImGui::EndDisabled();
  tooltip(reason.empty() ? std::string(action.meaning) + "  [" + shortcut(ActionId::add_object) + "]"
                         : reason);
}

}  // namespace

void draw_add_panel(PanelContext& context) {
  const std::shared_ptr<const Scene>& scene = context.simulation.frame().scene;
  if (!scene || !section("Add", false)) return;
  SpawnRequest& request = context.view.added;
  // The material may be that of a scene before.
  const std::vector<std::string>& names = scene->model.material_names;
  if (std::ranges::find(names, request.material) == names.end()) request.material.clear();
  const SpawnRequest shown = completed(*scene, request);
  ImGui::PushID("add");
  draw_kinds(context, *scene, shown);
  draw_shapes(request, shown);
  if (shown.shape == SpawnShape::mesh) draw_file(request);
  draw_length("Size", "Largest extent; Ctrl and a click for a number", shown.size, 1e-3, request.size);
  draw_cells(request, shown);
  draw_materials(context, scene->model, shown);
  draw_length("Height", "Above what is in the way; a small gap is always left", shown.height, 0,
              request.height);
  draw_button(context, *scene, shown);
  ImGui::PopID();
}

}  // namespace stickslip
