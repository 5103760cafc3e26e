#include "gpu/model/steppers.h"

#include <algorithm>
#include <utility>

namespace stickslip {
namespace {

std::string name_of(SolverKind solver) {
  return std::string(list_solvers()[static_cast<std::size_t>(solver)].name);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

/// The materials of which some rigid body is made, or any object.
std::vector<bool> used_materials(const Model& model, bool of_bodies) {
  std::vector<bool> used(model.materials.size(), false);
  for (const Object& object : model.objects)
    if (object.is_rigid() || !of_bodies) used[static_cast<std::size_t>(object.material)] = true;
  return used;
}

std::optional<Refusal> barrier_refusal(const Model& model, SolverKind solver, bool drop_unsupported) {
  const std::vector<std::string> ignored = ignored_by_barrier(model);
  const std::string dropped =
      ignored.empty() || drop_unsupported
          ? ""
          : joined(ignored) +
                " have no meaning in barrier steps: drop them with --force (drop_unsupported = true), or "
                "choose solver = velocity";
  if (dropped.empty()) return {};
  return Refusal{"", name_of(solver), dropped};
}

std::optional<Refusal> velocity_refusal(const Model& model, SolverKind solver) {
  if (model.bodies.empty()) return {};
  for (const Object& object : model.objects)
    if (object.is_collider())
      return Refusal{
          object.name, name_of(solver),
          "it is a collider without a shape that rigid bodies could touch; put a fixed or scripted "
          "rigid body in its place"};
  return {};
}

}  // namespace

std::vector<SolverInfo> list_solvers() {
  const std::vector<std::string_view> groups{"solver",   "time",        "integration", "barrier",
                                             "friction", "newton",      "pcg",         "ccd",
                                             "boundary", "interaction", "air"};
  std::vector<std::string_view> with_multipliers = groups;
  with_multipliers.emplace_back("augmented");
  return {{"ipc",
           "incremental potential contact: barrier, smoothed friction, projected Newton with PCG [Guo24 "
           "baseline]",
           groups, StepperFamily::barrier},
          {"barrier_al",
           "barrier-augmented Lagrangian: multipliers carry the tightest contacts, one inexact Newton step "
           "each [Guo24 Alg.1]",
           with_multipliers, StepperFamily::barrier},
          {"velocity",
           "velocity-level contact of rigid bodies and elastic solids: a linear step with impulses, found by "
           "contact_solver [Course 1.2, 3, 4.3]",
           {"solver", "time", "velocity", "stabilisation", "sleep", "penalty", "interaction", "air", "pcg"},
           StepperFamily::velocity},
          {"ccd_al",
           "augmented Lagrangian without a barrier: pairs that CCD finds become constraints with multipliers "
           "[Zheng26, from its abstract]",
           groups, StepperFamily::barrier}};
}

StepperFamily stepper_family(SolverKind solver) {
  return list_solvers()[static_cast<std::size_t>(solver)].family;
}

std::string Refusal::text() const {
  return "solver " + solver + " cannot move " + (body.empty() ? "this scene" : "'" + body + "'") + ": " +
         reason;
}

std::vector<std::string> ignored_by_barrier(const Model& model) {
  std::vector<std::string> ignored;
  const std::vector<bool> anywhere = used_materials(model, false);
  for (std::size_t m = 0; m < model.materials.size(); ++m) {
    const std::string of = " of '" + model.material_names[m] + "'";
    if (anywhere[m] && model.materials[m].cohesion > 0) ignored.push_back("cohesion" + of);
    if (anywhere[m] && model.materials[m].compliance > 0) ignored.push_back("compliance" + of);
  }
  if (model.bodies.empty()) return ignored;
  const std::vector<bool> used = used_materials(model, true);
  for (std::size_t m = 0; m < model.materials.size(); ++m) {
    if (!used[m]) continue;
    const Material& material = model.materials[m];
    const std::string of = " of '" + model.material_names[m] + "'";
    if (material.restitution > 0) ignored.push_back("restitution" + of);
    if (material.torsion_radius > 0) ignored.push_back("torsional friction" + of);
    if (material.rolling_resistance > 0) ignored.push_back("rolling resistance" + of);
    if (material.friction_kind == FrictionKind::elliptic) ignored.push_back("elliptic friction" + of);
    if (material.friction_kind == FrictionKind::matchstick) ignored.push_back("matchstick friction" + of);
    if (material.friction_kind == FrictionKind::tensor) ignored.push_back("the friction tensor" + of);
    if (material.mu_static > 0) ignored.push_back("static friction" + of);
    if (material.viscous_friction > 0) ignored.push_back("viscous friction" + of);
    if (material.tresca > 0) ignored.push_back("Tresca friction" + of);
    if (material.tangential_restitution != 0) ignored.push_back("tangential restitution" + of);
  }
  for (const PairFriction& pair : model.pair_friction)
    if (pair.rolling_resistance > 0)
      ignored.push_back("rolling resistance between '" +
                        model.material_names[static_cast<std::size_t>(pair.material_a)] + "' and '" +
                        model.material_names[static_cast<std::size_t>(pair.material_b)] + "'");
  for (const SurfaceTexture& texture : model.textures)
    ignored.push_back("the texture of '" + model.material_names[static_cast<std::size_t>(texture.material)] +
                      "'");
  return ignored;
}

std::optional<Refusal> stepper_refusal(const Model& model, SolverKind solver, bool drop_unsupported) {
  switch (stepper_family(solver)) {
    case StepperFamily::barrier:
      return barrier_refusal(model, solver, drop_unsupported);
    case StepperFamily::velocity:
      return velocity_refusal(model, solver);
  }
  return {};
}

}  // namespace stickslip
