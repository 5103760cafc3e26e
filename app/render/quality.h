// Settings of each quality level.
#pragma once

#include "app/render/renderer.h"
#include "app/render/vk.h"

namespace stickslip {

struct QualitySettings {
  VkSampleCountFlagBits samples;
  std::uint32_t sun_map_size;  // [px]
  bool soft_sun;               // penumbra grows with the distance from the occluder
  std::uint32_t sun_taps;
  int sky_views;  // number of directions from which sky light is tested; 0: unoccluded
  std::uint32_t sky_tile_size;
  int tube_sides;  // faces of the half of a rod that is seen
};

/// Likewise, towards a light: a ridge, which is nowhere in front of the tube, so that it casts no shadow on
/// it.
constexpr int kTubeSidesToLight = 2;

QualitySettings quality_settings(Quality quality);

}  // namespace stickslip
