// What the colours of surfaces say.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

enum class SurfaceColors { objects, stress, stretch, bending, twist, stiffness, islands };
struct SurfaceColorsInfo {
  SurfaceColors colors;
  std::string_view label, meaning, unit;
  bool is_scale;                // a number of each node; else a colour of each object
  bool is_logarithmic = false;  // by decades
};
std::span<const SurfaceColorsInfo> surface_colors_table();
/// `objects` where nothing in the model has what the colours say.
SurfaceColors offered_colors(SurfaceColors colors, const Model& model);
/// The next of the table that the model has; after the last one the first.
SurfaceColors next_offered(SurfaceColors colors, const Model& model);

/// The places of the values on a scale from 0 to `high`; values below 0 stay below 0.
void place_on_scale(std::span<const float> values, float high, std::vector<float>& places);

/// Whole decades that contain all values above 0; 0 to 0 without any.
struct Decades {
  float low = 0, high = 0;
};
Decades decades_of(std::span<const float> values);
/// The places of the values on the logarithmic scale of these decades; values that are not above 0 are below
/// 0.
void place_on_decades(std::span<const float> values, const Decades& decades, std::vector<float>& places);

}  // namespace stickslip
