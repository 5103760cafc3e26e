// Slider ranges of parameters and texts of controls: pure functions of the registry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/viewer/commands.h"
#include "gpu/model/model.h"
#include "gpu/params/param_scope.h"

namespace stickslip {

/// Maps a slider's position in [0, 1] to a value.
struct SliderScale {
  double low = 0, high = 1;
  bool logarithmic = false;
  bool zero_stop = false;  // logarithmic, with the value 0 at the left end
  bool whole = false;

  double value(double position) const;
  double position(double value) const;
};

/// A useful part of the row's range around `reference` (the scene's value): three decades in both directions
/// for wide ranges. Typed values may use the whole range.
SliderScale slider_scale(const ParamInfo& info, double reference);

/// A scene with rigid bodies is stepped at velocity level, whatever its other bodies.
bool is_rigid(const Model& model);

/// Inputs of the parameter rules. Refers to the settings. `material`: the material of a row of
/// material_table(); -1: all.
ParamScope param_scope(const Settings& settings, const Model& model, int material = -1);
/// Reason for which this row of any table has no effect at present; empty if it has one.
std::string inactive_reason(const ParamInfo& info, const Settings& settings, const Model& model,
                            int material = -1);

/// The rows of lab_param_table() about r-factors and penalties (rho) of the chosen contact solver.
std::vector<std::string_view> penalty_rows(const Settings& settings, const Model& model);

/// Law and method of choice `index` of contact_solver.
std::string contact_solver_text(std::size_t index);

/// "0.002 m"; a choice as its name.
std::string value_text(const ParamInfo& info, double value);

}  // namespace stickslip
