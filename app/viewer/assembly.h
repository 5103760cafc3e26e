// Objects that joints hold together.
#pragma once

#include <array>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// The numbers of the objects at the sides of a joint; -1: the world.
std::array<int, 2> objects_of(const Model& model, const Joint& joint);
/// The numbers of the objects that joints connect with this one, itself included, ascending. Ropes (joints of
/// the kind `distance`) and the world connect nothing.
std::vector<int> assembly_of(const Model& model, int object);

}  // namespace stickslip
