#include "app/viewer/surface_colors.h"

#include <algorithm>
#include <array>

namespace stickslip {

std::span<const SurfaceColorsInfo> surface_colors_table() {
  static constexpr std::array<SurfaceColorsInfo, 3> table{{
      {SurfaceColors::objects, "objects", "each object in its colour", ""},
      {SurfaceColors::stress, "stress", "of solids: von Mises' measure of the elastic stress", "Pa"},
      {SurfaceColors::stretch, "stretch", "of solids: the largest principal stretch or compression", "1"},
  }};
  return table;
}

void place_on_scale(std::span<const float> values, float high, std::vector<float>& places) {
  places.clear();
  places.reserve(values.size());
  for (const float value : values)
    places.push_back(value < 0 ? -1.f : high > 0 ? std::min(1.f, value / high) : 0.f);
}

}  // namespace stickslip
