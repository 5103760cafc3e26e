// Where the threads of cloth run, for its pattern in pictures: coordinates that move with the material.
#pragma once

#include <array>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Rods that are drawn as hair: an object of many strands, of which no single one matters.
bool is_hair(const Model& model, const Object& object);

/// [m] per corner: along the warp and along the weft.
using ThreadPlaces = std::array<Vec<float, 2>, 3>;

/// Per triangle of an object of cloth, in their order. Sewn cloth has the places of its pattern. Other cloth
/// is projected at rest: all of it on its mean plane if that is nowhere steep to it, else each triangle on
/// the plane across the axis nearest to its normal, so that scale changes by no more than sqrt(3).
std::vector<ThreadPlaces> thread_places(const Model& model, const Object& cloth);

/// [1/m] threads of the pattern, of which there are equally many over cloth of any size.
float threads_per_metre(const Model& model, const Object& cloth);

/// [1/m] cells of the pattern along rods.
float cells_per_metre(const Model& model, const Object& rods);

}  // namespace stickslip
