// Joints as constraints between points, see barrier_model.h.
#pragma once

#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Appends the constraints of a joint, its limits and its motor to `all`. The points o, x, y
/// and z of its two frames are the points a .. a + 3 and b .. b + 3. `base`: its index, arm and mass.
void add_joint_constraints(const Joint& joint, std::int32_t a, std::int32_t b, const NodeConstraint& base,
                           std::vector<NodeConstraint>& all);

/// A constraint of joint `index` without points: arm L [m], masses and stiffness of its sides. L is the
/// smallest of the radii of gyration of bodies that move and of the sizes of tets.
NodeConstraint joint_base(const Model& scene, std::size_t index);

// Append o, x, y and z = o + L e_i of a frame to `to`, and return the first of these points.
/// As four consecutive nodes.
std::int32_t add_node_points(Model& to, std::int32_t first_node);
/// Fixed in the world.
std::int32_t add_world_points(Model& to, const Pose& frame, double arm);
/// Of a frame on a tet of `scene`, in rest coordinates; `nodes`: the tet's corners in `to`.
std::int32_t add_tet_points(Model& to, const Vec4i& nodes, const Model& scene, std::int32_t tet,
                            const Pose& frame, double arm);

/// Appends the pairs of objects whose joints let them not touch, in ascending order, to `exempt`.
void add_exempt_objects(const Model& scene, std::vector<Vec2i>& exempt);

/// Sets constraints and exempt pairs of a model with joints but no rigid bodies. A stage of `finalize`.
void constrain_solids(Model& model);

}  // namespace stickslip
