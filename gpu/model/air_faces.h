// AirFace: a triangle of cloth or a segment of a rod, as the judge finds the drag on it.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

struct AirFace {
  Vec3i nodes{-1, -1, -1};  // of a segment the last one is -1
  std::int32_t object = -1;
  double diameter = 0;           // [m] of a segment
  double across = 0, along = 0;  // drag coefficients: Material::drag, skin_drag
};

/// All that the air of a model touches, in the order of the objects.
std::vector<AirFace> air_faces(const Model& model);

}  // namespace stickslip
