// What a slider of a parameter spans, and when a control is without effect. Pure functions of the registry.
#pragma once

#include <string>
#include <string_view>

#include "app/viewer/commands.h"
#include "gpu/contact_lab.h"
#include "gpu/model/model.h"

namespace stickslip {

/// How a slider's position in [0, 1] becomes a value.
struct SliderScale {
  double low = 0, high = 1;
  bool logarithmic = false;
  bool zero_stop = false;  // logarithmic, with the value 0 at the very left
  bool whole = false;

  double value(double position) const;
  double position(double value) const;
};

/// A useful part of the row's range around `reference` (the scene's value): three decades either way for wide
/// ranges. Typed values may still use all of it.
SliderScale slider_scale(const ParamInfo& info, double reference);

/// A scene with rigid bodies is stepped at velocity level, whatever else is in it.
bool is_rigid(const Model& model);

/// Why changing this has no effect at present; empty when it has one. Of a row of param_table().
std::string why_idle(const ParamInfo& info, const Settings& settings, const Model& model);
/// The same for a material row; `material` -1 stands for all.
std::string why_idle(const ParamInfo& info, const Settings& settings, int material, const Model& model);
/// The same for a row of lab_param_table() in a rigid scene.
std::string why_contact_idle(const ParamInfo& info, const Settings& settings, const Model& model);
/// Whether this kind of scene reads nothing of a group of param_table().
bool is_idle_group(std::string_view group, const Model& model);
/// Why choice `index` of a row of param_table() cannot be taken in this scene, or empty.
std::string why_barred(const ParamInfo& info, std::size_t index, const Model& model);

/// The solver of the lab that a step of rigid bodies uses: nsgs for what penalty forces leave to solve.
const ContactSolverInfo* contact_solver_of(const Params& params);
/// What choice `index` of contact_solver is: what law it solves, and how.
std::string contact_solver_text(std::size_t index);

/// A group of the registry as the title of its controls.
std::string group_title(std::string_view group);
/// The same for a group of the contact solvers' parameters: none is called as one of the others.
std::string contact_group_title(std::string_view group);

/// "0.002 m"; a choice as its name.
std::string value_text(const ParamInfo& info, double value);

}  // namespace stickslip
