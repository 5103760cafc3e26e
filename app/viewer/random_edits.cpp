#include "app/viewer/random_edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/viewer/param_controls.h"
#include "app/viewer/picking.h"
#include "gpu/model/scene_traits.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

// Probability of an action per moment, and of each kind of action.
constexpr double kBusy = 0.15, kPull = 0.1, kFreeze = 0.03, kReset = 0.03, kSolver = 0.15;
constexpr double kAll = 0.3;      // of the resets: by the one command
constexpr double kCapture = 0.3;  // of what is copied from the run
constexpr double kBack = 0.3;     // of the edits: back to the scene's value
constexpr double kWild = 0.15;    // anywhere on the slider instead of near the value
constexpr double kNear = 0.08;    // of the slider's length

/// Rows that alone determine the time or memory of a step.
bool is_left_alone(std::string_view name) {
  constexpr std::array<std::string_view, 9> names{"time_budget",    "pivot_rows",      "auto_direct_rows",
                                                  "contact_solver", "contact_skin",    "tessellation",
                                                  "strain_bound",   "joint_tolerance", "drop_unsupported"};
  return std::ranges::find(names, name) != names.end();
}

/// Bodies that overlap after wild edits may have no barrier step: scenes with rigid bodies keep their solver.
bool keeps_family(const ParamInfo& info, const Model& model) {
  return info.name == "solver" && is_rigid(model);
}

Command edit_param(std::string_view name, double value, int) { return ParamEdit{name, value}; }
Command edit_contact(std::string_view name, double value, int) { return ContactParamEdit{name, value}; }
Command edit_material(std::string_view name, double value, int material) {
  return MaterialEdit{material, name, value};
}
Command edit_half_space(std::string_view, double value, int index) {
  return HalfSpaceEdit{static_cast<std::size_t>(index), value};
}

}  // namespace

RandomEdits::RandomEdits(std::shared_ptr<const Scene> scene, std::uint64_t seed)
    : scene_(std::move(scene)), rng_(seed) {}

std::vector<RandomEdits::Control> RandomEdits::controls(const Settings& settings, bool acting) const {
  std::vector<Control> all;
  const Model& model = scene_->model;
  const auto add = [&](const ParamInfo& info, const auto& now, const auto& first, auto edit,
                       const ParamScope& scope, int material = -1) {
    if (acting && keeps_family(info, model)) return;
    if (is_left_alone(info.name) || (acting && !inactive_reason(info, scope).empty())) return;
    all.push_back({&info, get_param(&now, info), get_param(&first, info), edit, material});
  };
  const ParamScope scope = param_scope(settings, model);
  for (const ParamInfo& info : param_table()) add(info, settings.params, scene_->params, edit_param, scope);
  for (const ParamInfo& info : lab_param_table())
    if (is_rigid(model)) add(info, settings.contact_params, scene_->contact_params, edit_contact, scope);
  for (std::size_t i = 0; i < settings.materials.size() && i < model.materials.size(); ++i) {
    const auto material = static_cast<int>(i);
    const ParamScope of_material = param_scope(settings, model, material);
    for (const ParamInfo& info : material_table())
      add(info, settings.materials[i], model.materials[i], edit_material, of_material, material);
  }
  for (std::size_t i = 0; i < settings.half_space_mu.size() && i < model.half_spaces.size(); ++i)
    all.push_back({find_param(material_table(), "mu"), settings.half_space_mu[i], model.half_spaces[i].mu,
                   edit_half_space, static_cast<int>(i)});
  return all;
}

Command RandomEdits::turn(const Control& control) {
  const ParamInfo& info = *control.info;
  double value = control.original;
  if (!chance(kBack)) {
    if (info.type == ParamType::boolean) {
      value = control.value != 0 ? 0 : 1;
    } else if (info.type == ParamType::choice) {
      const std::size_t index = index_below(info.choices.size());
      const bool barred =
          keeps_family(info, scene_->model) || !barred_choice_reason(info, index, scene_->model).empty();
      value = barred ? control.value : static_cast<double>(index);
    } else {
      const SliderScale scale = slider_scale(info, control.original);
      const double at = scale.position(control.value);
      value = scale.value(chance(kWild) ? uniform(0, 1) : std::clamp(at + uniform(-kNear, kNear), 0.0, 1.0));
    }
  }
  return control.edit(info.name, value, control.material);
}

/// Grabs a body that can be pulled, moves the pointer, or releases the body.
void RandomEdits::pull(std::span<const Vec3f> positions, std::vector<Command>& commands) {
  if (pull_left_ > 0) {
    if (--pull_left_ == 0) return commands.push_back(DragEnd{});
    const double x = uniform(-0.1, 0.1), y = uniform(-0.1, 0.15), z = uniform(-0.1, 0.1);
    target_ += Vec3d{x, y, z};
    return commands.push_back(DragMove{target_});
  }
  const Model& model = scene_->model;
  if (model.triangles.empty()) return;
  const Vec3i triangle = model.triangles[index_below(model.triangles.size())];
  const auto node = static_cast<std::size_t>(triangle[0]);
  const Object& object = model.objects[static_cast<std::size_t>(model.node_object[node])];
  if (!why_fixed(model, object).empty() || node >= positions.size()) return;
  target_ = positions[node].cast<double>();
  pull_left_ = 5 + static_cast<int>(index_below(60));
  commands.push_back(DragStart{{triangle, {1, 0, 0}, target_}});
}

std::vector<Command> RandomEdits::next(const Settings& settings, std::span<const Vec3f> positions) {
  std::vector<Command> commands;
  if (pull_left_ > 0) pull(positions, commands);
  if (!chance(kBusy)) return commands;
  const double what = uniform(0, 1);
  if (what < kReset && chance(kAll)) {
    pull_left_ = 0;
    return {ResetAll{}};
  }
  if (what < kReset) return start_over(settings);
  if (what < kReset + kFreeze) {
    // Captured states are dropped, as frozen problems are: both must leave the run as it is.
    if (chance(kCapture)) commands.push_back(CaptureState{});
    if (chance(kCapture)) commands.push_back(ForkState{});
    else commands.push_back(Freeze{});
  } else if (what < kReset + kFreeze + kPull) {
    if (pull_left_ == 0) pull(positions, commands);
  } else if (what < kReset + kFreeze + kPull + kSolver && is_rigid(scene_->model)) {
    const ParamInfo& row = *find_param(param_table(), "contact_solver");
    commands.push_back(ParamEdit{row.name, static_cast<double>(index_below(row.choices.size()))});
  } else {
    const std::vector<Control> all = controls(settings, true);
    commands.push_back(turn(all[index_below(all.size())]));
  }
  return commands;
}

std::vector<Command> RandomEdits::start_over(const Settings& settings) {
  std::vector<Command> commands;
  if (std::exchange(pull_left_, 0) > 0) commands.push_back(DragEnd{});
  const ParamInfo& solver = *find_param(param_table(), "contact_solver");
  if (is_rigid(scene_->model)) commands.push_back(ParamEdit{solver.name, get_param(&scene_->params, solver)});
  for (const Control& control : controls(settings, false))
    if (control.value != control.original)
      commands.push_back(control.edit(control.info->name, control.original, control.material));
  commands.push_back(Reset{});
  return commands;
}

}  // namespace stickslip
