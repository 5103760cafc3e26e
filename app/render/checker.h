// A checker in the rest shape of solids, for their pattern in pictures: it moves, turns and bends with them.
#pragma once

#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Whether it is a rigid body with a ball, a capsule or a cylinder among its shapes.
bool is_round(const Model& model, const Object& object);

/// Of solids that are not round, except bodies that stand still.
bool has_checker(const Model& model, const Object& object);

/// [cells] per node of the object: its place at rest, along axes that are those of its largest flat faces, or
/// of its rest positions where it has none. Cells are blocks with integer corners. Whole ones fill the
/// object's box along these axes.
std::vector<Vec3f> checker_places(const Model& model, const Object& object);

}  // namespace stickslip
