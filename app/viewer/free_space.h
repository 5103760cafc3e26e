// Boxes around objects, and room for one more object above them.
#pragma once

#include <span>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// Axis-aligned; empty as constructed.
struct NodeBox {
  Vec<double, 3> low = Vec<double, 3>::filled(1e300), high = Vec<double, 3>::filled(-1e300);  // [m]

  void move(const Vec<double, 3>& by) {
    low += by;
    high += by;
  }
};

/// `positions`: one per node of the model [m].
template <class Positions>
NodeBox box_of(const Object& object, const Positions& positions) {
  NodeBox box;
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
    const auto x = positions[static_cast<std::size_t>(i)].template cast<double>();
    box.low = min(box.low, x);
    box.high = max(box.high, x);
  }
  return box;
}

/// The boxes of all objects at the start and at `positions`, one per node of the model [m]. What comes into a
/// running scene must not overlap the starts either: an engine loads all objects there, and a scene that is
/// saved begins there.
std::vector<NodeBox> taken_boxes(const Model& model, std::span<const Vec3f> positions);
/// The box moved up until it is `gap` [m] above those of the others that are in its way: that are nearer than
/// half of the gap.
NodeBox raised_above(const std::vector<NodeBox>& others, NodeBox box, double gap);

/// How far the lowest corner of a box is above a plane [m]; negative: it is behind the plane.
double clearance(const HalfSpace& plane, const NodeBox& box);
/// The box moved up until it is `gap` [m] above all planes that bodies can stand on.
NodeBox raised_above_ground(const Model& model, NodeBox box, double gap);

}  // namespace stickslip
