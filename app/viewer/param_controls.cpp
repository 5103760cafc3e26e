#include "app/viewer/param_controls.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gpu/model/friction_laws.h"
#include "gpu/model/scene_traits.h"

namespace stickslip {
namespace {

/// Width of the zero stop at the left end: positions below it mean 0.
constexpr double stop_width = 0.04;

}  // namespace

double SliderScale::value(double position) const {
  double result = low + std::clamp(position, 0.0, 1.0) * (high - low);
  if (logarithmic) {
    if (zero_stop) {
      if (position < stop_width) return 0;
      position = (position - stop_width) / (1 - stop_width);
    }
    result = low * std::pow(high / low, std::clamp(position, 0.0, 1.0));
    // Rounded to three digits: the number shown is the number used.
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
    scale.high = std::min(info.high, std::max(info.low, 0.0) + 1);
    scale.low = std::max(info.low, -scale.high);
  }
  return scale;
}

bool is_rigid(const Model& model) { return !model.bodies.empty(); }

ParamScope param_scope(const Settings& settings, const Model& model, int material) {
  return {settings.params,
          settings.contact_params,
          scene_traits(model),
          material_use(model, settings.materials, material, settings.params.solver),
          std::ranges::any_of(
              settings.materials,
              [](const Material& m) { return m.restitution > 0 || m.tangential_restitution != 0; }),
          std::ranges::any_of(settings.materials, [](const Material& m) { return m.cohesion > 0; }),
          has_lagged_friction(settings.materials, model.textures)};
}

std::string inactive_reason(const ParamInfo& info, const Settings& settings, const Model& model,
                            int material) {
  return inactive_reason(info, param_scope(settings, model, material));
}

std::vector<std::string_view> penalty_rows(const Settings& settings, const Model& model) {
  const std::vector<std::string_view>& read = contact_solver_info(settings.params.contact_solver).groups;
  std::vector<std::string_view> rows;
  for (const ParamInfo& info : lab_param_table()) {
    if (std::ranges::find(read, info.group) == read.end()) continue;
    const bool is_r_factor = info.name == "r_strategy" || info.name == "r_scale";
    const bool is_penalty = info.name.starts_with("rho_") || info.name.ends_with("_rho");
    if ((is_r_factor || is_penalty) && inactive_reason(info, settings, model).empty())
      rows.push_back(info.name);
  }
  return rows;
}

std::string contact_solver_text(std::size_t index) {
  const ContactSolverInfo& solver = contact_solver_table()[index];
  std::string law;
  if (solver.law == "exact") law = "Solves Coulomb's law exactly: ";
  if (solver.law == "associated") law = "Solves the associated law, and Coulomb's exactly with de_saxce: ";
  if (solver.law == "box") law = "Solves box friction: a pyramid in place of the cone: ";
  if (solver.law == "polyhedral") law = "Solves friction cones with facets: ";
  return law + std::string(solver.meaning);
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
