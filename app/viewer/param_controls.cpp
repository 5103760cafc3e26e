#include "app/viewer/param_controls.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

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
  } else if (pure_number) {
    scale.high = std::min(info.high, info.low + 1);
  }
  return scale;
}

std::string why_idle(const ParamInfo& info, const Params& params, const Model& model) {
  if (info.name == "friction_lags" && params.friction_update == FrictionUpdate::newton)
    return "friction_update = newton refreshes friction in every Newton iteration";
  if ((info.name == "barrier_floor" || info.name == "barrier_growth" || info.name == "barrier_cap" ||
       info.name == "sigma_rule") &&
      params.barrier_stiffness != 0)
    return "barrier_stiffness is fixed; at 0 it adapts";
  if (info.group == "augmented" && params.solver == SolverKind::ipc)
    return "solver = ipc has no multipliers; barrier_al has";
  if (params.linear_solver == LinearSolverKind::cholesky && info.group == "pcg" &&
      info.name != "linear_solver")
    return "linear_solver = cholesky has no iterations";
  if (info.name.starts_with("warm_start_") && !params.warm_start) return "warm_start is off";
  if (info.name == "additive_blocks" && params.preconditioner != PreconditionerKind::additive)
    return "preconditioner is not additive";
  if (info.name == "pcg_tolerance" && params.pcg_stop != PcgCriterion::relative &&
      params.pcg_stop != PcgCriterion::euclidean)
    return "only pcg_stop = relative or euclidean asks for a tolerance";
  if (info.name == "kinematic_stiffness" && model.scripted.empty())
    return "nothing in this scene is scripted";
  return {};
}

std::string why_idle(const ParamInfo& info, const std::vector<Material>& materials, int material,
                     const Model& model) {
  if (info.name == "mu") return {};
  if (!used_by_solid(model, material)) return "only colliders are made of this material";
  const bool of_shape = info.name == "model" || info.name == "poisson" || info.name == "damping";
  if (of_shape && !used_by_deformable(model, material))
    return "affine bodies know young alone: they are held in shape by the orthogonality energy";
  const auto is_arap = [](const Material& m) { return m.model == ElasticModel::arap; };
  const bool arap = material < 0 ? std::ranges::all_of(materials, is_arap)
                                 : is_arap(materials[static_cast<std::size_t>(material)]);
  if (info.name == "poisson" && arap) return "the ARAP energy has no volume term";
  return {};
}

std::string group_title(std::string_view group) {
  if (group == "augmented") return "Augmented Lagrangian";
  if (group == "pcg") return "Linear solver";
  if (group == "ccd") return "CCD";
  std::string title(group);
  if (!title.empty()) title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
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
