// Joints whose sides are held by elastic or affine solids: which tet holds them, and where their frames are.
#pragma once

#include <span>

#include "gpu/model/model.h"
#include "gpu/model/tet_frame.h"

namespace stickslip {

/// The object of a tet.
std::int32_t object_of_tet(const Model& model, std::int32_t tet);
/// The object of side 0 (a) or 1 (b) of a joint; -1: the world.
std::int32_t joint_object(const Model& model, const Joint& joint, int side);
/// True if a tet holds a side.
inline bool holds_solid(const Joint& joint) { return joint.tet_a >= 0 || joint.tet_b >= 0; }

/// [m] edge of the regular tet with the same volume at rest.
double tet_size(const Model& model, std::int32_t tet);
/// [m^3] of the tets that share a node with this one, each for the share of its nodes, times 4: a quarter of
/// it has the mass of this tet's nodes.
double tet_neighbourhood_volume(const Model& model, std::int32_t tet);

/// The tet of a solid that contains the point `p` [m] at the start, or is nearest to it. Throws
/// std::invalid_argument if the nearest one is farther away than its longest edge.
std::int32_t tet_near(const Model& model, const Object& solid, const Vec<double, 3>& p);
/// The point of a tet at `rest` in its rest coordinates.
TetPoint tet_point(const Model& model, std::int32_t tet, const Vec<double, 3>& rest);

/// Holds side a (0) or b (1) of `joint` by the tet of `solid` that is nearest to frame.x; `frame`: in the
/// world at the start. Throws as tet_near does, and if the object is no solid.
void hold_by_solid(const Model& model, const Object& solid, int side, const Pose& frame, Joint& joint);

/// The sides of a joint in a state.
struct JointSides {
  JointSides(const Model& model, const Joint& of);

  /// The frame of side 0 or 1 in the world. `bodies`: poses, identities if empty; `positions`: of all nodes
  /// [m], double or float, needed where a solid holds the side.
  template <class T>
  Pose frame(int side, std::span<const Pose> bodies, std::span<const Vec<T, 3>> positions) const {
    const std::int32_t body = side == 0 ? joint.a : joint.b;
    const Pose& held = side == 0 ? joint.frame_a : joint.frame_b;
    if (!is_held_by_solid(side))
      return body >= 0 && !bodies.empty() ? bodies[static_cast<std::size_t>(body)] * held : held;
    Vec<double, 3> corners[4];
    for (int k = 0; k < 4; ++k)
      corners[k] = positions[static_cast<std::size_t>(points[side].nodes[k])].template cast<double>();
    const Pose at = TetFrame::at(points[side], corners).pose;
    return {at.x, normalized(at.q * held.q)};
  }
  bool is_held_by_solid(int side) const { return (side == 0 ? joint.tet_a : joint.tet_b) >= 0; }

  Joint joint;
  TetPoint points[2];  // of the sides that solids hold
};

}  // namespace stickslip
