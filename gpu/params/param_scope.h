// What decides whether a parameter has an effect: the settings, the kind of scene, the use of a material.
#pragma once

#include <string>
#include <string_view>

#include "gpu/params/contact_solvers.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"

namespace stickslip {

/// Of the scene; gpu/model/scene_traits.h finds them.
struct SceneTraits {
  bool rigid = false;         // has rigid bodies
  bool coupled = false;       // has other objects, which the velocity stepper couples
  bool joints = false;        // has joints
  bool joint_limits = false;  // some joint has limits
  bool scripted = false;      // something follows a script
  bool thin = false;          // has cloth or rods
  bool open_rods = false;     // see has_open_rods_alone
};

/// What is made of one material, or of any.
struct MaterialUse {
  bool solid = false;       // a solid, affine or deformable, or a thin object
  bool deformable = false;  // one that is not affine
  bool tets = false;        // a deformable solid of tets
  bool cloth = false;
  bool thin = false;                        // feels the air: cloth, rods, or a body of frames
  bool rigid = false;                       // a rigid body, or a solid at velocity level
  bool body = false;                        // a rigid body
  bool weighed = false;                     // a moving rigid body that has its mass from the density
  bool isotropic = true;                    // friction_kind of all these materials
  bool matchstick = false, tensor = false;  // friction_kind of some of them
  bool has_static = false;                  // mu_static of some of them is set
  bool arap = false;                        // `model` of all these materials
};

/// The rows' rules read this.
struct ParamScope {
  const Params& params;
  const LabParams& lab;
  SceneTraits scene;
  MaterialUse material = {};  // of a row of material_table()
  bool bounces = false;       // some material has a restitution, along the normal or the tangents
  bool coheres = false;       // some material has a cohesion
  bool lags = false;          // see has_lagged_friction

  /// Whether steps are contact problems, whose unknowns are velocities and impulses.
  bool velocity_level() const { return params.solver == SolverKind::velocity; }
  /// The row of the solver in use.
  const ContactSolverInfo& solver() const { return contact_solver_info(params.contact_solver); }
  /// Whether contacts are forces instead of constraints.
  bool penalty() const { return contact_solver_info(params.contact_solver).has(SolverTrait::forces); }
  bool penalty_explicit() const { return params.contact_solver == ContactSolverKind::penalty_explicit; }
};

/// A group of parameters that are read together.
struct ParamGroup {
  std::string_view name, title;
  /// What reads it: any scene, barrier steps (also velocity-level steps with elastic solids), velocity-level
  /// steps.
  enum class Scenes { all, barrier, barrier_or_coupled, velocity } scenes = Scenes::all;
  /// Why all of its rows, or `info` of them, have no effect in scenes that read the group; may be null.
  std::string (*rule)(const ParamInfo& info, const ParamScope& scope) = nullptr;

  bool read_in(const SceneTraits& scene, SolverKind solver) const;
};

/// Throw std::logic_error for a group without a row in param_groups.cpp.
const ParamGroup& param_group(std::string_view name);      // of param_table() and material_table()
const ParamGroup& lab_param_group(std::string_view name);  // of lab_param_table()

/// Why changing the parameter has no effect at present; empty: it has one. The group's reason comes first.
std::string inactive_reason(const ParamInfo& info, const ParamScope& scope);

}  // namespace stickslip
