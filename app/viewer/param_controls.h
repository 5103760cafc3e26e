// What a slider of a parameter spans, and when a control is without effect. Pure functions of the registry.
#pragma once

#include <string>
#include <string_view>

#include "gpu/model/model.h"
#include "gpu/params/params.h"

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

/// Why changing this has no effect at present; empty when it has one.
std::string why_idle(const ParamInfo& info, const Params& params, const Model& model);
/// The same for a material row; `material` -1 stands for all.
std::string why_idle(const ParamInfo& info, const std::vector<Material>& materials, int material,
                     const Model& model);

/// A group of the registry as the title of its controls.
std::string group_title(std::string_view group);

/// "0.002 m"; a choice as its name.
std::string value_text(const ParamInfo& info, double value);

}  // namespace stickslip
