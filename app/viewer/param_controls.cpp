#include "app/viewer/param_controls.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "gpu/model/coupled.h"
#include "gpu/model/manifold_support.h"
#include "gpu/model/steppers.h"

namespace stickslip {
namespace {

/// Left end of a zero stop: travel below it means 0.
constexpr double stop_width = 0.04;

bool used_by_solid(const Model& model, int material) {
  return std::ranges::any_of(model.objects, [&](const Object& object) {
    return object.tet_end > object.tet_begin && (material < 0 || object.material == material);
  });
}

bool used_by_deformable(const Model& model, int material) {
  return std::ranges::any_of(model.objects, [&](const Object& object) {
    return object.tet_end > object.tet_begin && !object.is_affine() &&
           (material < 0 || object.material == material);
  });
}

bool used_by_rigid(const Model& model, int material) {
  return std::ranges::any_of(model.objects, [&](const Object& object) {
    const bool touches = object.is_rigid() || (is_coupled(model) && object.tet_begin < object.tet_end);
    return touches && (material < 0 || object.material == material);
  });
}

/// Whether a moving body gets its mass from this material.
bool weighs_rigid(const Model& model, int material) {
  return std::ranges::any_of(model.objects, [&](const Object& object) {
    if (!object.is_rigid() || (material >= 0 && object.material != material)) return false;
    const Body& body = model.bodies[static_cast<std::size_t>(object.body)];
    return body.moves && body.mass <= 0;
  });
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_penalty(const Params& params) {
  return params.contact_solver == ContactSolverKind::penalty_explicit ||
         params.contact_solver == ContactSolverKind::penalty_implicit;
}

std::string contact_solver_name(const Params& params) {
  return param_text(&params, *find_param(param_table(), "contact_solver"));
}

/// Whether this kind of stabilisation reads a row of its group.
bool stabilisation_reads(Stabilisation kind, std::string_view name) {
  if (name == "stabilisation") return true;
  if (kind == Stabilisation::baumgarte)
    return is_one_of(name, {"baumgarte", "baumgarte_speed", "contact_slop"});
  if (kind == Stabilisation::spring_damper) return name.starts_with("spring_");
  if (kind == Stabilisation::projection)
    return is_one_of(name, {"projection_iterations", "baumgarte_speed", "contact_slop"});
  return false;
}

/// Groups that only velocity-level stepping reads.
bool is_velocity_group(std::string_view group) {
  return is_one_of(group, {"velocity", "stabilisation", "sleep", "penalty"});
}

/// What only elastic scenes read.
bool is_barrier_group(std::string_view group) {
  return is_one_of(group, {"integration", "barrier", "augmented", "friction", "newton", "pcg", "ccd",
                           "boundary", "solver"});
}

/// Explicit forces leave the joints alone to a solver.
bool solves_nothing(const Params& params, const Model& model) {
  return params.contact_solver == ContactSolverKind::penalty_explicit && model.joints.empty();
}

constexpr const char* nothing_to_solve = "penalty_explicit has forces in place of a solver";
constexpr const char* no_bounce = "penalty forces do not bounce back: penalty_damping says how much is lost";

bool has_limits(const Joint& joint) { return joint.low <= joint.high; }

/// What has no effect beside penalty forces.
std::string why_idle_by_penalty(const ParamInfo& info, const Params& params, const Model& model) {
  const bool baumgarte = params.stabilisation == Stabilisation::baumgarte;
  if (params.contact_solver == ContactSolverKind::penalty_explicit) {
    if (info.name == "shock_propagation") return "penalty_explicit leaves no contacts to go through";
    if (info.name == "cold_start_iterations") return nothing_to_solve;
    if (info.name == "continuous" && params.stabilisation != Stabilisation::projection)
      return "penalty_explicit acts on overlaps alone, not on what comes near";
  }
  if (info.name == "restitution_speed") return no_bounce;
  const bool of_velocities = info.name.starts_with("spring_") || info.name == "baumgarte" ||
                             (info.group == "stabilisation" && baumgarte);
  if (model.joints.empty() && of_velocities && info.name != "stabilisation")
    return "penalty forces take overlaps back themselves, and there are no joints";
  if (info.name == "contact_slop" && baumgarte && std::ranges::none_of(model.joints, has_limits))
    return "penalty forces take overlaps back themselves, and no joint has limits";
  return {};
}

std::string why_idle_pcg(const ParamInfo& info, const Params& params) {
  if (params.linear_solver == LinearSolverKind::cholesky && info.name != "linear_solver")
    return "linear_solver = cholesky has no iterations";
  if (info.name.starts_with("warm_start_") && !params.warm_start) return "warm_start is off";
  if (info.name == "additive_blocks" && params.preconditioner != PreconditionerKind::additive)
    return "preconditioner is not additive";
  if (info.name == "pcg_tolerance" && params.pcg_stop != PcgCriterion::relative &&
      params.pcg_stop != PcgCriterion::euclidean)
    return "only pcg_stop = relative or euclidean asks for a tolerance";
  return {};
}

std::string why_idle_rigid(const ParamInfo& info, const Settings& settings, const Model& model) {
  const Params& params = settings.params;
  if (info.name == "solver") return "a scene with rigid bodies is stepped at velocity level";
  const bool coupled = is_coupled(model);
  if (coupled && is_one_of(info.group, {"sleep"})) return "bodies beside elastic solids stay awake";
  if (coupled && info.name == "shock_propagation") return "it knows no elastic solids";
  if (coupled && info.name == "cold_start_iterations")
    return "beside elastic solids the chosen solver starts by itself";
  if (coupled && info.group == "pcg") return why_idle_pcg(info, params);
  if (is_barrier_group(info.group)) return "rigid scenes have no barrier";
  if (info.group == "penalty" && !is_penalty(params))
    return "contact_solver = " + contact_solver_name(params) +
           " finds impulses; the penalty_ ones use forces";
  if (is_penalty(params))
    if (std::string why = why_idle_by_penalty(info, params, model); !why.empty()) return why;
  if (info.name == "restitution_speed" &&
      std::ranges::none_of(settings.materials, [](const Material& m) { return m.restitution > 0; }))
    return "nothing bounces: restitution is 0 in all materials";
  if (info.group == "stabilisation" && !stabilisation_reads(params.stabilisation, info.name))
    return "stabilisation = " + param_text(&params, *find_param(param_table(), "stabilisation")) +
           " does not read this";
  if (info.group == "sleep" && info.name != "sleeping" && !params.sleeping) return "sleeping is off";
  return {};
}

std::string why_idle_elastic(const ParamInfo& info, const Params& params, const Model& model) {
  if (is_velocity_group(info.group)) return "this scene has no rigid bodies";
  if (info.name.starts_with("newmark_") && params.time_integrator == TimeIntegrator::backward_euler)
    return "time_integrator is backward_euler";
  if (info.name == "friction_lags" && params.friction_update == FrictionUpdate::newton)
    return "friction_update = newton refreshes friction in every Newton iteration";
  if (is_one_of(info.name, {"barrier_floor", "barrier_growth", "barrier_cap", "sigma_rule"}) &&
      params.barrier_stiffness != 0)
    return "barrier_stiffness is fixed; at 0 it adapts";
  if (info.group == "augmented" && params.solver == SolverKind::ipc)
    return "solver = ipc has no multipliers; barrier_al has";
  if (info.group == "pcg") return why_idle_pcg(info, params);
  if (info.name == "kinematic_stiffness" && model.scripted.empty())
    return "nothing in this scene is scripted";
  return {};
}

/// Of the material's rows that speak of rigid bodies.
std::string why_idle_surface(const ParamInfo& info, const std::vector<Material>& materials, int material,
                             const Model& model) {
  if (!used_by_rigid(model, material)) return "no rigid body is made of this material";
  const auto isotropic = [](const Material& m) { return m.friction_kind == FrictionKind::isotropic; };
  const bool plain = material < 0 ? std::ranges::all_of(materials, isotropic)
                                  : isotropic(materials[static_cast<std::size_t>(material)]);
  if (info.name == "mu_across" && plain) return "friction_kind = isotropic has mu in all directions";
  return {};
}

}  // namespace

double SliderScale::value(double position) const {
  double result = low + std::clamp(position, 0.0, 1.0) * (high - low);
  if (logarithmic) {
    if (zero_stop) {
      if (position < stop_width) return 0;
      position = (position - stop_width) / (1 - stop_width);
    }
    result = low * std::pow(high / low, std::clamp(position, 0.0, 1.0));
    // Three digits: the number shown is the number used.
    const double unit = std::pow(10, std::floor(std::log10(result)) - 2);
    result = std::clamp(std::round(result / unit) * unit, low, high);
  }
  return whole ? std::round(result) : result;
}

double SliderScale::position(double value) const {
  if (!logarithmic) return std::clamp((value - low) / (high - low), 0.0, 1.0);
  if (value <= 0) return 0;
  const double position = std::clamp(std::log(value / low) / std::log(high / low), 0.0, 1.0);
  return zero_stop ? stop_width + position * (1 - stop_width) : position;
}

SliderScale slider_scale(const ParamInfo& info, double reference) {
  SliderScale scale{info.low, info.high, false, false, info.type == ParamType::integer};
  if (info.type == ParamType::boolean || info.type == ParamType::choice) return scale;
  const bool pure_number = info.unit == "1" && info.high <= 10;
  if (info.low > 0 && info.high / info.low >= 1e3) {
    scale.logarithmic = true;
    scale.low = std::max(info.low, reference * 1e-3);
    scale.high = std::min(info.high, reference * 1e3);
  } else if (info.low == 0 && !pure_number && (reference == 0 || info.high / reference > 1e3)) {
    scale.logarithmic = scale.zero_stop = true;
    scale.low = reference > 0 ? reference * 1e-3 : info.high * 1e-10;
    scale.high = reference > 0 ? std::min(info.high, reference * 1e3) : info.high;
  } else if (info.low <= 0 && std::abs(reference) > 0 && info.type == ParamType::real) {
    scale.high = std::min(info.high, std::max(4 * std::abs(reference), pure_number ? 1.0 : 0.0));
    scale.low = std::max(info.low, -4 * std::abs(reference));
  } else if (pure_number && info.type == ParamType::real && info.high > info.low + 2) {
    scale.high = std::min(info.high, info.low + 1);
  }
  return scale;
}

bool is_rigid(const Model& model) { return !model.bodies.empty(); }

std::string why_idle(const ParamInfo& info, const Settings& settings, const Model& model) {
  return is_rigid(model) ? why_idle_rigid(info, settings, model)
                         : why_idle_elastic(info, settings.params, model);
}

std::string why_idle(const ParamInfo& info, const Settings& settings, int material, const Model& model) {
  const std::vector<Material>& materials = settings.materials;
  if (info.name == "mu") return {};
  if (info.name == "restitution" && is_rigid(model) && is_penalty(settings.params)) return no_bounce;
  if (info.group == "rigid") return why_idle_surface(info, materials, material, model);
  if (!used_by_solid(model, material)) {
    if (!used_by_rigid(model, material)) return "only colliders are made of this material";
    if (info.name != "density") return "only rigid bodies are made of this material";
    return weighs_rigid(model, material) ? "" : "its bodies stand still or have a mass of their own";
  }
  const bool of_shape = info.name == "model" || info.name == "poisson" || info.name == "damping";
  if (of_shape && !used_by_deformable(model, material))
    return "affine bodies know young alone: they are held in shape by the orthogonality energy";
  const auto is_arap = [](const Material& m) { return m.model == ElasticModel::arap; };
  const bool arap = material < 0 ? std::ranges::all_of(materials, is_arap)
                                 : is_arap(materials[static_cast<std::size_t>(material)]);
  if (info.name == "poisson" && arap) return "the ARAP energy has no volume term";
  return {};
}

std::string why_contact_idle(const ParamInfo& info, const Settings& settings, const Model& model) {
  const LabParams& lab = settings.contact_params;
  if (solves_nothing(settings.params, model)) return nothing_to_solve;
  Params params = settings.params;
  if (params.contact_solver == ContactSolverKind::manifold_gs && !why_no_manifolds(model).empty())
    params.contact_solver = ContactSolverKind::nsgs;  // takes its place
  const ContactSolverInfo* solver = contact_solver_of(params);
  const std::string name(solver->name);
  if (std::ranges::find(solver->groups, info.group) == solver->groups.end()) {
    const std::string who =
        is_penalty(settings.params) ? name + ", which solves beside penalty forces," : name;
    return who + " does not read this";
  }
  const bool sweeps_alone = is_one_of(info.group, {"prox", "prox_local"});
  if (name == "nncg" && sweeps_alone && lab.nncg_sweep != NncgSweep::prox)
    return "only nncg_sweep = prox reads this";
  if (info.name == "check_interval" && (name.starts_with("newton_") || name.starts_with("pivot_")))
    return name + " has every iterate's velocities, so looking costs nothing";
  if (info.name == "de_saxce_inner" && !lab.de_saxce) return "de_saxce is off";
  if (info.name == "r_shrink" && !lab.r_adaptive) return "r_adaptive is off";
  if (info.name == "newton_cuts" && !lab.newton_damped && name != "auto") return "newton_damped is off";
  if (info.name.starts_with("krylov_") && lab.newton_linear == NewtonLinear::direct)
    return "newton_linear = direct factorises";
  if (info.name == "auto_direct_rows" && lab.newton_linear != NewtonLinear::automatic)
    return "newton_linear decides";
  return {};
}

bool is_idle_group(std::string_view group, const Model& model) {
  if (group == "pcg" && is_coupled(model)) return false;
  return is_rigid(model) ? is_barrier_group(group) : is_velocity_group(group);
}

std::string why_barred(const ParamInfo& info, std::size_t index, const Model& model) {
  if (info.name == "contact_solver" && index == static_cast<std::size_t>(ContactSolverKind::manifold_gs))
    return why_no_manifolds(model);
  if (is_coupled(model) && (info.name == "contact_solver" || info.name == "stabilisation")) {
    Params params;
    set_param(&params, info, static_cast<double>(index));
    return coupled_fault(params);
  }
  if (info.name != "solver") return {};
  const auto refused = stepper_refusal(model, static_cast<SolverKind>(index));
  return refused ? refused->text() : "";
}

const ContactSolverInfo* contact_solver_of(const Params& params) {
  static const std::vector<ContactSolverInfo> solvers = list_stepping_solvers();
  const std::string name = is_penalty(params) ? "nsgs" : contact_solver_name(params);
  return &*std::ranges::find(solvers, name, &ContactSolverInfo::name);
}

std::string contact_solver_text(std::size_t index) {
  Params params;
  params.contact_solver = static_cast<ContactSolverKind>(index);
  if (params.contact_solver == ContactSolverKind::penalty_explicit)
    return "springs and dampers at overlaps, from the state at the step's start: small steps only, "
           "and nothing is exact [Course 5.1]";
  if (params.contact_solver == ContactSolverKind::penalty_implicit)
    return "springs and dampers at overlaps, linearised at the step's end: stable, and soft [Course 5.1]";
  const ContactSolverInfo* solver = contact_solver_of(params);
  std::string law = "Solves Coulomb's law exactly";
  if (solver->law == "associated") law = "Solves the associated law, and Coulomb's exactly with de_saxce";
  if (solver->law == "box") law = "Solves box friction: a pyramid in place of the cone";
  return law + ": " + std::string(solver->meaning);
}

std::string group_title(std::string_view group) {
  if (group == "augmented") return "Augmented Lagrangian";
  if (group == "pcg") return "Linear solver";
  if (group == "ccd") return "CCD";
  std::string title(group);
  if (!title.empty()) title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

std::string contact_group_title(std::string_view group) {
  static constexpr std::pair<std::string_view, const char*> titles[] = {
      {"stop", "Accuracy and budget"},
      {"sweep", "Sweeps"},
      {"relaxation", "Relaxation"},
      {"prox", "r-factors"},
      {"adaptive", "Adaptive r-factors"},
      {"prox_local", "Local proximal steps"},
      {"manifold", "Conjugate directions"},
      {"convex", "Convex subproblem"},
      {"shifts", "Outer shifts"},
      {"acceleration", "Acceleration"},
      {"spg", "Spectral projected gradient"},
      {"admm", "ADMM"},
      {"alart_curnier", "Alart-Curnier function"},
      {"newton", "Nonsmooth Newton"},
      {"damping", "Newton damping"},
      {"subspace", "Subspace minimisation"},
      {"nncg", "Conjugate gradients"},
      {"staggered", "Staggering"},
      {"pivot", "Pivoting"},
      {"auto", "Choice of method"}};
  for (const auto& [name, title] : titles)
    if (name == group) return title;
  return std::string(group);
}

std::string value_text(const ParamInfo& info, double value) {
  if (info.type == ParamType::choice) {
    const auto index = static_cast<std::size_t>(value);
    return index < info.choices.size() ? std::string(info.choices[index]) : "?";
  }
  if (info.type == ParamType::boolean) return value != 0 ? "on" : "off";
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, info.type == ParamType::integer ? "%.0f" : "%.4g", value);
  std::string result(text, static_cast<std::size_t>(length));
  if (!info.unit.empty() && info.unit != "1") result += " " + std::string(info.unit);
  return result;
}

}  // namespace stickslip
