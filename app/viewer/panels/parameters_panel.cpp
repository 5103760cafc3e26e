#include <algorithm>
#include <utility>

#include "app/viewer/judged_model.h"
#include "app/viewer/panels/panels.h"
#include "app/viewer/panels/param_row.h"
#include "app/viewer/panels/widgets.h"
#include "app/viewer/param_controls.h"
#include "gpu/model/scene_traits.h"

namespace stickslip {
namespace {

/// One property of the selected material, or of all of them (-1).
void draw_material_row(Simulation& simulation, const Scene& scene, TypedNumber& typed, const ParamInfo& info,
                       int chosen) {
  const std::vector<Material>& materials = simulation.settings().materials;
  const std::vector<Material>& originals = scene.model.materials;
  const std::size_t first = chosen < 0 ? 0 : static_cast<std::size_t>(chosen);
  const std::size_t last = chosen < 0 ? materials.size() : first + 1;
  ParamRow control{info, get_param(&materials[first], info), get_param(&originals[first], info),
                   inactive_reason(info, simulation.settings(), scene.model, chosen)};
  for (std::size_t i = first; i < last; ++i) {
    const double value = get_param(&materials[i], info);
    control.mixed = control.mixed || value != control.value;
    control.modified = control.modified || value != get_param(&originals[i], info);
  }
  double value = 0;
  const EditAction edit = draw_param_row(typed, control, value);
  if (edit == EditAction::changed) simulation.post(MaterialEdit{chosen, info.name, value});
  if (edit == EditAction::reset)
    for (std::size_t i = first; i < last; ++i)
      simulation.post(MaterialEdit{static_cast<int>(i), info.name, get_param(&originals[i], info)});
}

/// Rows without effect at present, folded unless something is searched for.
template <class Draw>
void draw_idle_rows(const std::string& filter, const Draw& draw) {
  if (!filter.empty()) return draw();
  if (ImGui::TreeNodeEx("without effect now", ImGuiTreeNodeFlags_SpanAvailWidth)) {
    ImGui::Unindent(ImGui::GetTreeNodeToLabelSpacing());
    draw();
    ImGui::Indent(ImGui::GetTreeNodeToLabelSpacing());
    ImGui::TreePop();
  }
  tooltip("Each row says why it has no effect");
}

void draw_materials(Simulation& simulation, const Scene& scene, TypedNumber& typed,
                    const std::string& filter) {
  const std::vector<Material>& materials = simulation.settings().materials;
  const auto count = static_cast<int>(materials.size());
  if (count == 0 || materials.size() != scene.model.materials.size()) return;
  int& chosen = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("material"), -1);
  if (chosen >= count) chosen = -1;
  const auto name_of = [&](int i) {
    return i < 0 ? std::string("all materials") : scene.model.material_names[static_cast<std::size_t>(i)];
  };
  ImGui::SetNextItemWidth(-1);
  if (begin_choices("##material", name_of(chosen))) {
    for (int i = -1; i < count; ++i)
      if (ImGui::Selectable(name_of(i).c_str(), i == chosen)) chosen = i;
    ImGui::EndCombo();
  }
  const auto is_in = [&](const ParamInfo& info, bool idle) {
    return passes_filter(filter, {info.name, info.meaning}) &&
           inactive_reason(info, simulation.settings(), scene.model, chosen).empty() != idle;
  };
  const auto draw_rows = [&](bool idle) {
    for (const ParamInfo& info : material_table())
      if (is_in(info, idle)) draw_material_row(simulation, scene, typed, info, chosen);
  };
  draw_rows(false);
  if (std::ranges::any_of(material_table(), [&](const ParamInfo& info) { return is_in(info, true); }))
    draw_idle_rows(filter, [&] { draw_rows(true); });
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
    const std::string idle = scene.model.half_spaces[i].mu_of_body ? "mu_of_body: the body's mu holds" : "";
    const EditAction edit =
        draw_param_row(typed, {row, values[i], original, idle, values[i] != original}, value);
    if (edit != EditAction::none)
      simulation.post(HalfSpaceEdit{i, edit == EditAction::reset ? original : value});
    ImGui::PopID();
  }
}

std::vector<ChoiceNote> notes_of(const ParamInfo& info, const Model& scene, const Settings& settings) {
  std::vector<ChoiceNote> notes(info.choices.size());
  if (notes.empty()) return notes;
  const Model model = judged_model(scene, settings.materials);
  for (std::size_t i = 0; i < notes.size(); ++i)
    notes[i].barred = barred_choice_reason(info, i, model, settings.params.drop_unsupported);
  return notes;
}

/// Whether a row belongs to this group and passes the filter; that of the contact solver is drawn elsewhere.
bool is_shown(const ParamInfo& info, std::string_view group, const std::string& filter) {
  return info.group == group && info.name != "contact_solver" &&
         passes_filter(filter, {info.name, info.meaning});
}

/// The rows of one group that have an effect, or those without one.
void draw_rows(Simulation& simulation, const Scene& scene, TypedNumber& typed, std::string_view group,
               const std::string& filter, bool idle) {
  const Settings& settings = simulation.settings();
  const ParamScope scope = param_scope(settings, scene.model);
  for (const ParamInfo& info : param_table()) {
    if (!is_shown(info, group, filter) || inactive_reason(info, scope).empty() == idle) continue;
    const double original = get_param(&scene.params, info), current = get_param(&settings.params, info);
    double value = 0;
    const EditAction edit =
        draw_param_row(typed,
                       {info, current, original, inactive_reason(info, scope), current != original, false,
                        notes_of(info, scene.model, settings)},
                       value);
    if (edit != EditAction::none)
      simulation.post(ParamEdit{info.name, edit == EditAction::reset ? original : value});
  }
}

void draw_group(Simulation& simulation, const Scene& scene, TypedNumber& typed, std::string_view group,
                const std::string& filter) {
  const ParamScope scope = param_scope(simulation.settings(), scene.model);
  draw_rows(simulation, scene, typed, group, filter, false);
  if (std::ranges::any_of(param_table(), [&](const ParamInfo& info) {
        return is_shown(info, group, filter) && !inactive_reason(info, scope).empty();
      })) {
    ImGui::PushID(group.data(), group.data() + group.size());
    draw_idle_rows(filter, [&] { draw_rows(simulation, scene, typed, group, filter, true); });
    ImGui::PopID();
  }
}

/// Whether a group is initially unfolded.
bool begins_open(std::string_view group, bool rigid) {
  if (group == "time") return true;
  return rigid ? group == "velocity" || group == "stabilisation" : group == "barrier";
}

/// Undo and redo, which say what they would change.
void draw_edits(PanelContext& context) {
  const EditHistory& edits = context.simulation.edits();
  const auto draw = [&](ActionId id, const std::string& what) {
    const Action& action = action_table()[static_cast<std::size_t>(id)];
    ImGui::BeginDisabled(what.empty());
    if (ImGui::SmallButton(action.label.data())) context.act(id);
    ImGui::EndDisabled();
    tooltip(what.empty() ? inactive_reason(id, context.simulation)
                         : std::string(action.label) + ": " + what + "  [" + shortcut(id) + "]");
  };
  draw(ActionId::undo, edits.next_undo());
  ImGui::SameLine();
  draw(ActionId::redo, edits.next_redo());
}

}  // namespace

void draw_material_of_selected(Simulation& simulation, TypedNumber& typed, int material) {
  const std::shared_ptr<const Scene>& scene = simulation.frame().scene;
  const std::size_t count = simulation.settings().materials.size();
  if (!scene || material < 0 || static_cast<std::size_t>(material) >= count ||
      count != scene->model.materials.size())
    return;
  ImGui::PushID("material of selected");
  for (const char* const name : {"density", "young", "poisson", "mu"}) {
    const ParamInfo& info = *find_param(material_table(), name);
    if (inactive_reason(info, simulation.settings(), scene->model, material).empty())
      draw_material_row(simulation, *scene, typed, info, material);
  }
  ImGui::PopID();
}

void draw_parameters_panel(PanelContext& context) {
  Simulation& simulation = context.simulation;
  const std::shared_ptr<const Scene>& scene = simulation.frame().scene;
  if (!scene) return;
  TypedNumber& typed = context.view.typed;
  std::string& filter = context.view.param_filter;
  filter_field("##find parameter", "Find a parameter", filter);
  draw_edits(context);
  // The folding state is stored separately for scenes with and without rigid bodies, and while something is
  // searched for, when everything found is unfolded.
  const bool rigid = is_rigid(scene->model);
  const std::string kind = !filter.empty() ? "##found" : rigid ? "##rigid" : "##elastic";
  const auto draw = [&](std::string_view group, bool open) {
    if (std::ranges::none_of(param_table(),
                             [&](const ParamInfo& info) { return is_shown(info, group, filter); }))
      return;
    if (section((std::string(param_group(group).title) + kind).c_str(), open || !filter.empty()))
      draw_group(simulation, *scene, typed, group, filter);
  };
  const SolverKind solver = simulation.settings().params.solver;
  if (!rigid) draw("solver", true);
  const bool finds_material = std::ranges::any_of(material_table(), [&](const ParamInfo& info) {
    return passes_filter(filter, {info.name, info.meaning});
  });
  if (finds_material && section(filter.empty() ? "Materials" : "Materials##found")) {
    draw_materials(simulation, *scene, typed, filter);
    if (passes_filter(filter, {"mu", "friction"})) draw_half_spaces(simulation, *scene, typed);
  }
  if (rigid || solver == SolverKind::velocity) draw_contact_solver_panel(context);
  // Groups that the solver does not read come last.
  const SceneTraits traits = scene_traits(scene->model);
  for (const bool idle : {false, true}) {
    std::string_view last;
    for (const ParamInfo& info : param_table())
      if (std::exchange(last, info.group) != info.group && (rigid || info.group != "solver") &&
          info.group_row->read_in(traits, solver) != idle)
        draw(info.group, !idle && begins_open(info.group, rigid));
  }
}

}  // namespace stickslip
