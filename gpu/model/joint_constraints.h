// Joints as constraints between anchor nodes, see barrier_model.h.
#pragma once

#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Appends the constraints of a joint, its limits and its motor to `all`; none of a gear. The points o, x, y
/// and z of its two frames are the nodes a .. a + 3 and b .. b + 3. `base`: its index, arm and mass.
void add_joint_constraints(const Joint& joint, std::int32_t a, std::int32_t b, const NodeConstraint& base,
                           std::vector<NodeConstraint>& all);

}  // namespace stickslip
