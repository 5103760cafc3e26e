// The groups of parameters: titles, which scenes read them, and rules that hold for a whole group.
#include <algorithm>
#include <span>
#include <stdexcept>

#include "gpu/params/newton_start.h"
#include "gpu/params/param_rules.h"

namespace stickslip {
namespace {

using Scenes = ParamGroup::Scenes;

constexpr const char* kVelocityLevel = "only velocity-level stepping reads this";

std::string rule_of_multipliers(const ParamInfo&, const ParamScope& s) {
  if (s.params.solver == SolverKind::ccd_al) return "the multipliers of ccd_al have rules of their own";
  return s.params.solver == SolverKind::ipc ? "solver = ipc has no multipliers; barrier_al has" : "";
}

/// Why `ccd_al`, which has no barrier, does not read a parameter of these groups.
std::string rule_of_barrier(const ParamInfo& info, const ParamScope& s) {
  constexpr std::string_view kOfBarriers[] = {"barrier", "barrier_floor", "barrier_growth", "barrier_cap",
                                              "sigma_rule"};
  const bool unread = s.params.solver == SolverKind::ccd_al && std::ranges::count(kOfBarriers, info.name) > 0;
  return unread ? "solver = ccd_al has no barrier whose stiffness adapts" : "";
}

std::string rule_of_friction(const ParamInfo& info, const ParamScope& s) {
  const bool unread = s.params.solver == SolverKind::ccd_al && info.name != "eps_v";
  return unread ? "solver = ccd_al refreshes friction in each iteration" : "";
}

std::string rule_of_choice(const ParamInfo& info, const ParamScope& s) {
  const bool unread = s.params.solver == SolverKind::ccd_al && info.name == "contact_limit";
  return unread ? "solver = ccd_al has no limit on contacts" : "";
}

std::string rule_of_newton(const ParamInfo& info, const ParamScope& s) {
  Params ahead = s.params;
  ahead.newton_start = NewtonStart::ahead;
  if (info.name != "newton_start" || starts_ahead(ahead)) return "";
  return s.params.solver == SolverKind::ccd_al
             ? "solver = ccd_al moves a target, from where the last step ended"
             : "newton_stop = gradient is relative to the gradient where the last step ended";
}

std::string rule_of_pcg(const ParamInfo& info, const ParamScope& s) {
  const bool direct = s.params.linear_solver == LinearSolverKind::cholesky;
  return direct && info.name != "linear_solver" ? "linear_solver = cholesky has no iterations" : "";
}

/// What a contact problem of elastic solids would read: explicit forces leave that of joints alone, and
/// ADMM as the integrator of rods.
std::string rule_of_velocity(const ParamInfo& info, const ParamScope& s) {
  if (!s.penalty_explicit() || !s.scene.coupled) return {};
  if (info.name == "penetration_guard") return "penalty_explicit has no contact problem to add contacts to";
  const bool couples = info.name == "coupling" || info.name == "dual_pcg_tolerance" ||
                       info.name == "projection_sweeps" || info.name == "nodal_projection" ||
                       info.name.starts_with("admm_") || info.name.starts_with("ica_");
  const bool integrates =
      (info.name == "coupling" && s.scene.open_rods) ||
      (param_rules::splits_rods(s) &&
       (info.name == "admm_tolerance" || info.name == "admm_iterations" || info.name == "admm_accelerated"));
  return couples && !integrates && !s.scene.joints ? param_rules::kNothingToSolve : "";
}

std::string rule_of_sleep(const ParamInfo&, const ParamScope& s) {
  return s.scene.coupled ? "elastic solids and bodies beside them stay awake" : "";
}

std::string rule_of_penalty(const ParamInfo&, const ParamScope& s) {
  if (s.penalty()) return {};
  return "contact_solver = " + std::string(contact_solver_info(s.params.contact_solver).name) +
         " finds impulses; the penalty_ ones use forces";
}

std::string rule_of_air(const ParamInfo&, const ParamScope& s) {
  return s.scene.thin ? ""
                      : "nothing in this scene is cloth, rods or a body of frames, which alone feel the air";
}

std::string rule_of_cloth(const ParamInfo&, const ParamScope& s) {
  return s.material.cloth ? "" : "no cloth is made of this material";
}

std::string rule_of_surfaces(const ParamInfo&, const ParamScope& s) {
  if (!s.velocity_level() && s.scene.rigid)
    return "barrier steps have isotropic friction with mu alone and no restitution; solver = velocity reads "
           "this";
  if (s.material.rigid) return {};
  return s.velocity_level() ? "no body is made of this material" : kVelocityLevel;
}

std::string rule_of_solvers(const ParamInfo& info, const ParamScope& s) {
  if (!s.velocity_level()) return "barrier steps have no contact solver";
  if (s.penalty_explicit() && !s.scene.joints) return param_rules::kNothingToSolve;
  const ContactSolverInfo& solver = s.solver();
  if (std::ranges::find(solver.groups, info.group) != solver.groups.end()) return {};
  return (solver.has(SolverTrait::forces) ? "nsgs, which solves beside penalty forces,"
                                          : std::string(solver.name)) +
         " does not read this";
}

std::string rule_of_prox(const ParamInfo& info, const ParamScope& s) {
  if (std::string reason = rule_of_solvers(info, s); !reason.empty()) return reason;
  const bool other_sweep = s.lab.nncg_sweep != NncgSweep::prox;
  return s.solver().kind == ContactSolverKind::nncg && other_sweep ? "only nncg_sweep = prox reads this" : "";
}

// Of param_table() and material_table().
constexpr ParamGroup kGroups[] = {
    {"time", "Time"},
    {"integration", "Integration", Scenes::barrier},
    {"solver", "Solver", Scenes::all, rule_of_choice},
    {"barrier", "Barrier", Scenes::barrier, rule_of_barrier},
    {"augmented", "Augmented Lagrangian", Scenes::barrier, rule_of_multipliers},
    {"friction", "Friction", Scenes::barrier, rule_of_friction},
    {"newton", "Newton", Scenes::barrier, rule_of_newton},
    {"pcg", "Linear solver", Scenes::barrier_or_coupled, rule_of_pcg},
    {"ccd", "CCD", Scenes::barrier},
    {"boundary", "Boundary", Scenes::barrier},
    {"interaction", "Interaction"},
    {"air", "Air", Scenes::all, rule_of_air},
    {"velocity", "Velocity", Scenes::velocity, rule_of_velocity},
    {"stabilisation", "Stabilisation", Scenes::velocity},
    {"sleep", "Sleep", Scenes::velocity, rule_of_sleep},
    {"penalty", "Penalty", Scenes::velocity, rule_of_penalty},
    {"material", "Material"},
    {"cloth", "Cloth", Scenes::all, rule_of_cloth},
    {"rigid", "Rigid", Scenes::all, rule_of_surfaces},
};

// Of lab_param_table(). No title is one of those above.
constexpr ParamGroup kLabGroups[] = {
    {"stop", "Accuracy and budget", Scenes::all, rule_of_solvers},
    {"sweep", "Sweeps", Scenes::all, rule_of_solvers},
    {"joints", "Joints", Scenes::all, rule_of_solvers},
    {"relaxation", "Relaxation", Scenes::all, rule_of_solvers},
    {"contraction", "Contraction test", Scenes::all, rule_of_solvers},
    {"prox", "r-factors", Scenes::all, rule_of_prox},
    {"adaptive", "Adaptive r-factors", Scenes::all, rule_of_solvers},
    {"prox_local", "Local proximal steps", Scenes::all, rule_of_prox},
    {"manifold", "Conjugate directions", Scenes::all, rule_of_solvers},
    {"convex", "Convex subproblem", Scenes::all, rule_of_solvers},
    {"shifts", "Outer shifts", Scenes::all, rule_of_solvers},
    {"acceleration", "Acceleration", Scenes::all, rule_of_solvers},
    {"spg", "Spectral projected gradient", Scenes::all, rule_of_solvers},
    {"admm", "ADMM", Scenes::all, rule_of_solvers},
    {"ncp", "Complementarity", Scenes::all, rule_of_solvers},
    {"augmentation", "Newton on the augmented Lagrangian", Scenes::all, rule_of_solvers},
    {"alart_curnier", "Alart-Curnier function", Scenes::all, rule_of_solvers},
    {"fischer_burmeister", "Fischer-Burmeister function", Scenes::all, rule_of_solvers},
    {"facets", "Facets of friction cones", Scenes::all, rule_of_solvers},
    {"newton", "Nonsmooth Newton", Scenes::all, rule_of_solvers},
    {"damping", "Newton damping", Scenes::all, rule_of_solvers},
    {"subspace", "Subspace minimisation", Scenes::all, rule_of_solvers},
    {"nncg", "Conjugate gradients", Scenes::all, rule_of_solvers},
    {"staggered", "Staggering", Scenes::all, rule_of_solvers},
    {"pivot", "Pivoting", Scenes::all, rule_of_solvers},
    {"auto", "Choice of method", Scenes::all, rule_of_solvers},
};

const ParamGroup& find_group(std::span<const ParamGroup> groups, std::string_view name) {
  const auto row = std::ranges::find(groups, name, &ParamGroup::name);
  if (row == groups.end())
    throw std::logic_error("the parameter group '" + std::string(name) + "' has no row in param_groups.cpp");
  return *row;
}

/// Why the solver of the scene does not read a group.
std::string unread_reason(const ParamGroup& group) {
  return group.scenes == Scenes::velocity ? kVelocityLevel : "velocity-level steps have no barrier";
}

}  // namespace

const ParamGroup& param_group(std::string_view name) { return find_group(kGroups, name); }
const ParamGroup& lab_param_group(std::string_view name) { return find_group(kLabGroups, name); }

bool ParamGroup::read_in(const SceneTraits& scene, SolverKind solver) const {
  const bool velocity_level = solver == SolverKind::velocity;
  switch (scenes) {
    case Scenes::all:
      return true;
    case Scenes::barrier:
      return !velocity_level;
    case Scenes::barrier_or_coupled:
      return !velocity_level || scene.coupled;
    case Scenes::velocity:
      return velocity_level;
  }
  return true;
}

std::string inactive_reason(const ParamInfo& info, const ParamScope& scope) {
  const ParamGroup& group = *info.group_row;
  if (!group.read_in(scope.scene, scope.params.solver)) return unread_reason(group);
  if (group.rule)
    if (std::string reason = group.rule(info, scope); !reason.empty()) return reason;
  return info.rule ? info.rule(scope) : "";
}

}  // namespace stickslip
