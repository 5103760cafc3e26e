// What a slider of a parameter spans, and the texts of controls. Pure functions of the registry.
#pragma once

#include <string>
#include <string_view>

#include "app/viewer/commands.h"
#include "gpu/model/model.h"
#include "gpu/params/param_scope.h"

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

/// What the rules of parameters read. Refers to the settings. `material`: that of a row of material_table();
/// -1 stands for all.
ParamScope param_scope(const Settings& settings, const Model& model, int material = -1);
/// Why changing this row of any table has no effect at present; empty when it has one.
std::string inactive_reason(const ParamInfo& info, const Settings& settings, const Model& model,
                            int material = -1);

/// What choice `index` of contact_solver is: what law it solves, and how.
std::string contact_solver_text(std::size_t index);

/// "0.002 m"; a choice as its name.
std::string value_text(const ParamInfo& info, double value);

}  // namespace stickslip
