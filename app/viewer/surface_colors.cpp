#include "app/viewer/surface_colors.h"

#include <algorithm>
#include <array>

namespace stickslip {

std::span<const SurfaceColorsInfo> surface_colors_table() {
  static constexpr std::array<SurfaceColorsInfo, 4> table{{
      {SurfaceColors::objects, "objects", "each object in its colour", "", false},
      {SurfaceColors::stress, "stress", "of solids: von Mises' measure of the elastic stress", "Pa", true},
      {SurfaceColors::stretch, "stretch", "of solids: the largest principal stretch or compression", "1",
       true},
      {SurfaceColors::islands, "islands",
       "objects that contacts and joints connect in one colour; grey: what touches nothing that can move", "",
       false},
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
