#include "app/viewer/free_space.h"

namespace stickslip {
namespace {

// The y of a half-space's normal from which it counts as ground, not as a wall: 70 degrees.
constexpr double kGround = 0.34;

bool is_nearer(const NodeBox& a, const NodeBox& b, double margin) {
  for (int k = 0; k < 3; ++k)
    if (a.high[k] + margin < b.low[k] || b.high[k] + margin < a.low[k]) return false;
  return true;
}

}  // namespace

std::vector<NodeBox> taken_boxes(const Model& model, std::span<const Vec3f> positions) {
  std::vector<NodeBox> boxes;
  for (const Object& object : model.objects) {
    if (object.node_end == object.node_begin) continue;
    const auto radius = Vec<double, 3>::filled(0.5 * object.thickness);
    for (NodeBox box : {box_of(object, model.positions), box_of(object, positions)}) {
      box.low -= radius;
      box.high += radius;
      boxes.push_back(box);
    }
  }
  return boxes;
}

NodeBox raised_above(const std::vector<NodeBox>& others, NodeBox box, double gap) {
  // Each of the others raises the box once at most. The limit also ends the loop where a gap is lost to
  // rounding.
  bool raised = true;
  for (std::size_t pass = 0; raised && pass <= others.size(); ++pass) {
    raised = false;
    for (const NodeBox& other : others) {
      if (!is_nearer(other, box, 0.5 * gap)) continue;
      box.move({0, other.high[1] + gap - box.low[1], 0});
      raised = true;
    }
  }
  return box;
}

double clearance(const HalfSpace& plane, const NodeBox& box) {
  double lowest = -plane.offset;
  for (int k = 0; k < 3; ++k) lowest += plane.normal[k] * (plane.normal[k] > 0 ? box.low[k] : box.high[k]);
  return lowest;
}

NodeBox raised_above_ground(const Model& model, NodeBox box, double gap) {
  for (const HalfSpace& plane : model.half_spaces)
    if (const double above = clearance(plane, box); plane.normal[1] > kGround && above < gap)
      box.move({0, (gap - above) / plane.normal[1], 0});
  return box;
}

}  // namespace stickslip
