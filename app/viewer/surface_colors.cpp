#include "app/viewer/surface_colors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stickslip {

std::span<const SurfaceColorsInfo> surface_colors_table() {
  static constexpr std::array<SurfaceColorsInfo, 7> table{{
      {SurfaceColors::objects, "objects", "each object in its colour", "", false},
      {SurfaceColors::stress, "stress",
       "of solids and cloth: von Mises' measure of the elastic stress, of cloth in its plane; of rods: the "
       "tension or compression over the section",
       "Pa", true},
      {SurfaceColors::stretch, "stretch",
       "of solids, cloth and rods: the largest principal stretch or compression; of cloth in its plane, of "
       "rods along them",
       "1", true},
      {SurfaceColors::bending, "bending",
       "of cloth and rods: the largest principal curvature beyond that at rest", "1/m", true},
      {SurfaceColors::twist, "twist", "of rods: the twist per length beyond that at rest", "rad/m", true},
      {SurfaceColors::stiffness, "stiffness",
       "what a node resists with in the linear system of the last step, with inertia and, in barrier steps, "
       "contacts: a third of the trace of its block, on a scale of decades as the stiffness groups",
       "N/m", true, true},
      {SurfaceColors::islands, "islands",
       "objects that contacts and joints connect in one colour; grey: what touches nothing that can move", "",
       false},
  }};
  return table;
}

SurfaceColors offered_colors(SurfaceColors colors, const Model& model) {
  const auto is_elastic = [](const Object& object) { return object.is_deformable(); };
  const auto offered_by = [&](const auto& has) {
    return std::ranges::any_of(model.objects, has) ? colors : SurfaceColors::objects;
  };
  switch (colors) {
    case SurfaceColors::bending:
      return offered_by([](const Object& object) { return object.is_thin(); });
    case SurfaceColors::twist:
      return offered_by([](const Object& object) { return object.is_rods(); });
    case SurfaceColors::stress:
    case SurfaceColors::stretch:
    case SurfaceColors::stiffness:
      return offered_by(is_elastic);
    case SurfaceColors::objects:
    case SurfaceColors::islands:
      break;
  }
  return colors;
}

SurfaceColors next_offered(SurfaceColors colors, const Model& model) {
  const std::span<const SurfaceColorsInfo> table = surface_colors_table();
  auto next = static_cast<std::size_t>(colors);
  do {
    next = (next + 1) % table.size();
  } while (offered_colors(table[next].colors, model) != table[next].colors);
  return table[next].colors;
}

void place_on_scale(std::span<const float> values, float high, std::vector<float>& places) {
  places.clear();
  places.reserve(values.size());
  for (const float value : values)
    places.push_back(value < 0 ? -1.f : high > 0 ? std::min(1.f, value / high) : 0.f);
}

Decades decades_of(std::span<const float> values) {
  float least = 0, most = 0;
  for (const float value : values) {
    if (!(value > 0)) continue;
    least = least > 0 ? std::min(least, value) : value;
    most = std::max(most, value);
  }
  if (!(most > 0)) return {};
  const float low = std::floor(std::log10(least)), high = std::ceil(std::log10(most));
  return {std::pow(10.f, low), std::pow(10.f, std::max(high, low + 1))};
}

void place_on_decades(std::span<const float> values, const Decades& decades, std::vector<float>& places) {
  places.clear();
  places.reserve(values.size());
  const float width = decades.low > 0 ? std::log(decades.high / decades.low) : 1;
  for (const float value : values)
    places.push_back(
        value > 0 && decades.low > 0 ? std::clamp(std::log(value / decades.low) / width, 0.f, 1.f) : -1.f);
}

}  // namespace stickslip
