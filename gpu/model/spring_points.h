// Ends of springs on objects, at the start. Host only.
#pragma once

#include "gpu/model/model.h"

namespace stickslip {

/// The point of the object's surface or centrelines that is nearest to `at`. Throws std::invalid_argument for
/// an object without either.
ConstraintPoint nearest_on_object(const Model& model, const Object& object, const Vec<double, 3>& at);

/// `at` as a point of the tet of a solid that is nearest to `root`: it moves with the affine map of that tet.
ConstraintPoint carried_by_tet(const Model& model, const Object& solid, const Vec<double, 3>& root,
                               const Vec<double, 3>& at);

/// Where the point is at the start.
Vec<double, 3> start_of(const Model& model, const ConstraintPoint& point);

}  // namespace stickslip
