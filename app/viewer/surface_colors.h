// What the colours of surfaces say.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace stickslip {

enum class SurfaceColors { objects, stress, stretch, islands };
struct SurfaceColorsInfo {
  SurfaceColors colors;
  std::string_view label, meaning, unit;
  bool is_scale;  // a number of each node; else a colour of each object
};
std::span<const SurfaceColorsInfo> surface_colors_table();

/// The places of the values on a scale from 0 to `high`; values below 0 stay below 0.
void place_on_scale(std::span<const float> values, float high, std::vector<float>& places);

}  // namespace stickslip
