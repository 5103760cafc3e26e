#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "app/viewer/theme.h"

#include <spdlog/spdlog.h>

namespace stickslip {
namespace {

/// One row of the registry as a control.
struct Control {
  const ParamInfo& info;
  double value;
  double reference;       // the scene's value
  std::string idle;       // why it is without effect, or empty
  bool modified = false;  // differs from the scene
  bool mixed = false;     // the materials it stands for differ
};

std::string describe(const Control& control) {
  const ParamInfo& info = control.info;
  std::string text(info.meaning);
  if (info.type == ParamType::real || info.type == ParamType::integer)
    text += "\n" + value_text(info, info.low) + " to " + value_text(info, info.high);
  text += "\nscene: " + value_text(info, control.reference) +
          ", default: " + value_text(info, info.default_value);
  if (info.type == ParamType::real || info.type == ParamType::integer)
    text += "\nCtrl + click to type a value";
  if (!control.idle.empty()) text += "\nNo effect now: " + control.idle;
  return text;
}

enum class Touch { none, changed, reset };

bool number_input(TypedNumber& typed, const ParamInfo& info, double& value) {
  if (typed.fresh) ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputText("##typed", typed.text, sizeof typed.text,
                       ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool left = !typed.fresh && !ImGui::IsItemActive();
  typed.fresh = false;
  if (!entered && !left) return false;
  typed.id = 0;
  if (!entered) return false;
  char* end = nullptr;
  const double number = std::strtod(typed.text, &end);
  if (end == typed.text || !(number >= info.low && number <= info.high)) {
    spdlog::warn("{} must be between {} and {}", info.name, value_text(info, info.low),
                 value_text(info, info.high));
    return false;
  }
  value = info.type == ParamType::integer ? std::round(number) : number;
  return true;
}

bool number_slider(TypedNumber& typed, const Control& control, double& value) {
  const ImGuiID id = ImGui::GetID("##slider");
  if (typed.id == id) return number_input(typed, control.info, value);
  const SliderScale scale = slider_scale(control.info, control.reference);
  auto position = static_cast<float>(scale.position(value));
  const bool moved =
      filled_slider("##slider", position, control.mixed ? "mixed" : value_text(control.info, value));
  if (ImGui::IsItemClicked() && ImGui::GetIO().KeyCtrl) {
    typed.id = id;
    typed.fresh = true;
    std::snprintf(typed.text, sizeof typed.text, "%.6g", value);
    return false;
  }
  if (!moved || typed.id == id) return false;
  const double next = scale.value(static_cast<double>(position));
  const bool changed = next != value;
  value = next;
  return changed;
}

bool choice_box(const Control& control, double& value) {
  bool changed = false;
  if (!ImGui::BeginCombo("##choice", control.mixed ? "mixed" : value_text(control.info, value).c_str()))
    return false;
  for (std::size_t i = 0; i < control.info.choices.size(); ++i) {
    const std::string name(control.info.choices[i]);
    if (ImGui::Selectable(name.c_str(), static_cast<double>(i) == value)) {
      value = static_cast<double>(i);
      changed = true;
    }
  }
  ImGui::EndCombo();
  return changed;
}

/// Label, control and, where the value is not the scene's, a button that takes it back. `value` is the new
/// one.
Touch draw_control(TypedNumber& typed, const Control& control, double& value) {
  const std::string name(control.info.name);
  const float reset_width = ImGui::GetFrameHeight();
  const float label_width = em(18);
  ImGui::PushID(name.c_str());
  ImGui::BeginDisabled(!control.idle.empty());
  ImGui::AlignTextToFramePadding();
  text_colored(theme::dim_text, fit_text(name, label_width - em(1)));
  tooltip(describe(control));
  ImGui::SameLine(label_width);
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - reset_width -
                          ImGui::GetStyle().ItemInnerSpacing.x);
  value = control.value;
  bool changed = false;
  if (control.info.type == ParamType::boolean) {
    bool on = value != 0;
    changed = ImGui::Checkbox("##box", &on);
    value = on;
  } else if (control.info.type == ParamType::choice) {
    changed = choice_box(control, value);
  } else {
    changed = number_slider(typed, control, value);
  }
  if (typed.id == 0) tooltip(describe(control));
  ImGui::EndDisabled();
  Touch touch = changed ? Touch::changed : Touch::none;
  if (control.modified) {
    ImGui::SameLine(ImGui::GetContentRegionMax().x - reset_width);
    if (ImGui::Button("x", {reset_width, 0})) touch = Touch::reset;
    tooltip("Back to the scene's value");
  }
  ImGui::PopID();
  return touch;
}

/// One property of the chosen material, or of all of them (-1).
void draw_material_row(Simulation& simulation, const Scene& scene, TypedNumber& typed, const ParamInfo& info,
                       int chosen) {
  const std::vector<Material>& materials = simulation.settings().materials;
  const std::vector<Material>& originals = scene.model.materials;
  const std::size_t first = chosen < 0 ? 0 : static_cast<std::size_t>(chosen);
  const std::size_t last = chosen < 0 ? materials.size() : first + 1;
  Control control{info, get_param(&materials[first], info), get_param(&originals[first], info),
                  why_idle(info, materials, chosen, scene.model)};
  for (std::size_t i = first; i < last; ++i) {
    const double value = get_param(&materials[i], info);
    control.mixed = control.mixed || value != control.value;
    control.modified = control.modified || value != get_param(&originals[i], info);
  }
  double value = 0;
  const Touch touch = draw_control(typed, control, value);
  if (touch == Touch::changed) simulation.post(MaterialEdit{chosen, info.name, value});
  if (touch == Touch::reset)
    for (std::size_t i = first; i < last; ++i)
      simulation.post(MaterialEdit{static_cast<int>(i), info.name, get_param(&originals[i], info)});
}

void draw_materials(Simulation& simulation, const Scene& scene, TypedNumber& typed) {
  const std::vector<Material>& materials = simulation.settings().materials;
  const auto count = static_cast<int>(materials.size());
  if (count == 0 || materials.size() != scene.model.materials.size()) return;
  int& chosen = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("material"), -1);
  if (chosen >= count) chosen = -1;
  const auto name_of = [&](int i) {
    return i < 0 ? std::string("all materials") : scene.model.material_names[static_cast<std::size_t>(i)];
  };
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##material", name_of(chosen).c_str())) {
    for (int i = -1; i < count; ++i)
      if (ImGui::Selectable(name_of(i).c_str(), i == chosen)) chosen = i;
    ImGui::EndCombo();
  }
  for (const ParamInfo& info : material_table()) draw_material_row(simulation, scene, typed, info, chosen);
}

void draw_half_spaces(Simulation& simulation, const Scene& scene, TypedNumber& typed) {
  const std::vector<double>& values = simulation.settings().half_space_mu;
  const ParamInfo& info = *find_param(material_table(), "mu");
  for (std::size_t i = 0; i < values.size() && i < scene.model.half_spaces.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    ParamInfo row = info;
    const std::string name = values.size() > 1 ? "plane " + std::to_string(i) + " mu" : "ground mu";
    row.name = name;
    double value = 0;
    const double original = scene.model.half_spaces[i].mu;
    const Touch touch = draw_control(typed, {row, values[i], original, "", values[i] != original}, value);
    if (touch != Touch::none) simulation.post(HalfSpaceEdit{i, touch == Touch::reset ? original : value});
    ImGui::PopID();
  }
}

/// The rows of one group.
void draw_group(Simulation& simulation, const Scene& scene, TypedNumber& typed, std::string_view group) {
  for (const ParamInfo& info : param_table()) {
    if (info.group != group) continue;
    const Params& params = simulation.settings().params;
    const double original = get_param(&scene.params, info), current = get_param(&params, info);
    double value = 0;
    const Touch touch = draw_control(
        typed, {info, current, original, why_idle(info, params, scene.model), current != original}, value);
    if (touch != Touch::none) simulation.post(ParamEdit{info.name, touch == Touch::reset ? original : value});
  }
}

}  // namespace

void draw_parameters_panel(PanelContext& context) {
  Simulation& simulation = context.simulation;
  const std::shared_ptr<const Scene>& scene = simulation.frame().scene;
  if (!scene) return;
  TypedNumber& typed = context.view.typed;
  const auto draw = [&](std::string_view group, bool open) {
    if (section(group_title(group).c_str(), open)) draw_group(simulation, *scene, typed, group);
  };
  draw("solver", true);
  if (section("Materials")) {
    draw_materials(simulation, *scene, typed);
    draw_half_spaces(simulation, *scene, typed);
  }
  std::string_view last = "solver";
  for (const ParamInfo& info : param_table())
    if (info.group != "solver" && std::exchange(last, info.group) != info.group)
      draw(info.group, info.group == "time" || info.group == "barrier");
}

}  // namespace stickslip
