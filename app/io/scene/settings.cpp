#include "app/io/scene/settings.h"

#include <algorithm>
#include <stdexcept>

#include "gpu/engine.h"
#include "gpu/model/coupled.h"
#include "gpu/model/friction_laws.h"
#include "gpu/model/steppers.h"

namespace stickslip {
namespace {

[[noreturn]] void refuse_unknown(const std::string& assignment, const std::string& what,
                                 const std::string& name, const std::vector<std::string_view>& known) {
  const std::string nearest = nearest_name(known, name);
  throw InputError(
      "--set " + assignment + ": unknown " + what + " '" + name + "'" +
      (nearest.empty() ? "; stickslip list params shows all" : "; did you mean '" + nearest + "'?"));
}

std::vector<std::string_view> names_of(std::initializer_list<std::span<const ParamInfo>> tables) {
  std::vector<std::string_view> names;
  for (const auto& table : tables)
    for (const ParamInfo& info : table) names.push_back(info.name);
  return names;
}

void set_one_material(Scene& scene, const std::string& assignment, const std::string& name,
                      const std::string& key, const std::string& value) {
  const auto& names = scene.model.material_names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse_unknown(assignment, "material", name, {names.begin(), names.end()});
  const ParamInfo* row = find_param(material_table(), key);
  if (!row) refuse_unknown(assignment, "material key", key, names_of({material_table()}));
  set_param(&scene.model.materials[found - names.begin()], *row, value);
}

void set_contact_param(Scene& scene, const std::string& assignment, const std::string& key,
                       const std::string& value) {
  const ParamInfo* row = find_param(lab_param_table(), key);
  if (!row) refuse_unknown(assignment, "parameter of contact solvers", key, names_of({lab_param_table()}));
  set_param(&scene.contact_params, *row, value);
}

void set_all_materials(Scene& scene, const ParamInfo& row, const std::string& value) {
  Material probe;
  set_param(&probe, row, value);
  for (Material& material : scene.model.materials) set_param(&material, row, value);
  if (row.name == "mu")
    for (HalfSpace& plane : scene.model.half_spaces) plane.mu = probe.mu;
}

}  // namespace

void apply_setting(Scene& scene, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError("--set " + assignment + ": must be key=value");
  const std::string key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const std::size_t dot = key.find('.');
  try {
    if (key.starts_with("contact.")) {
      set_contact_param(scene, assignment, key.substr(dot + 1), value);
    } else if (dot != std::string::npos) {
      set_one_material(scene, assignment, key.substr(0, dot), key.substr(dot + 1), value);
    } else if (key == "solver") {
      set_solver(scene.params, value);
    } else if (const ParamInfo* row = find_param(param_table(), key)) {
      set_param(&scene.params, *row, value);
    } else if (const ParamInfo* material_row = find_param(material_table(), key)) {
      set_all_materials(scene, *material_row, value);
    } else {
      refuse_unknown(assignment, "key", key, names_of({param_table(), material_table()}));
    }
  } catch (const std::invalid_argument& error) {
    throw InputError("--set " + assignment + ": " + error.what());
  }
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverInfo& info : list_solvers()) names.emplace_back(info.name);
  const auto& contact = find_param(param_table(), "contact_solver")->choices;
  names.insert(names.end(), contact.begin(), contact.end());
  return names;
}

void set_solver(Params& params, const std::string& name) {
  const std::vector<std::string> names = solver_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string nearest = nearest_name(std::vector<std::string_view>(names.begin(), names.end()), name);
    throw std::invalid_argument(
        "there is no solver '" + name + "'" +
        (nearest.empty() ? " (stickslip list solvers shows all)" : "; did you mean '" + nearest + "'?"));
  }
  const ParamInfo& method = *find_param(param_table(), "solver");
  if (std::find(method.choices.begin(), method.choices.end(), name) != method.choices.end()) {
    set_param(&params, method, name);
    return;
  }
  params.solver = SolverKind::velocity;
  set_param(&params, *find_param(param_table(), "contact_solver"), name);
}

void check_solver(const Params& params, const Model& model) {
  if (const auto refused = stepper_refusal(model, params)) throw InputError(refused->text());
  if (stepper_family(params.solver) != StepperFamily::velocity) return;
  // The stepper says it, too, for materials that change while a scene runs, at its first step.
  if (!model.bodies.empty())
    if (const std::string fault = rolling_fault(model); !fault.empty()) throw InputError(fault);
  if (!is_coupled(model)) return;
  if (const std::string fault = coupled_fault(params); !fault.empty())
    throw InputError("elastic solids move in this scene, which rules out " + fault);
}

}  // namespace stickslip
