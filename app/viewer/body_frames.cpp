#include "app/viewer/body_frames.h"

namespace stickslip {
namespace {

bool has_axis(JointKind kind) {
  return kind == JointKind::hinge || kind == JointKind::slider || kind == JointKind::gear;
}

}  // namespace

std::vector<JointMark> joint_marks(std::span<const JointSides> joints, std::span<const Pose> poses,
                                   std::span<const Vec<float, 3>> positions) {
  std::vector<JointMark> marks;
  marks.reserve(joints.size());
  for (const JointSides& sides : joints) {
    if (positions.empty() && holds_solid(sides.joint)) continue;
    const Pose frame = sides.frame(0, poses, positions);
    JointMark mark;
    mark.a = frame.x.cast<float>();
    mark.b = sides.frame(1, poses, positions).x.cast<float>();
    if (has_axis(sides.joint.kind)) mark.axis = frame.q.rotate({1, 0, 0}).cast<float>();
    marks.push_back(mark);
  }
  return marks;
}

std::vector<JointMark> spring_marks(std::span<const Spring> springs,
                                    std::span<const Vec<float, 3>> positions) {
  const auto at = [&](const ConstraintPoint& point) {
    Vec<double, 3> x = point.fixed;
    for (int c = 0; c < 4; ++c)
      if (point.nodes[c] >= 0)
        x += point.weights[c] * positions[static_cast<std::size_t>(point.nodes[c])].cast<double>();
    return x.cast<float>();
  };
  std::vector<JointMark> marks;
  for (const Spring& spring : springs)
    if (spring.length > 0) marks.push_back({at(spring.a), at(spring.b)});
  return marks;
}

std::vector<JointSides> joint_sides(const Model& model) {
  std::vector<JointSides> sides;
  for (const Joint& joint : model.joints) sides.emplace_back(model, joint);
  return sides;
}

}  // namespace stickslip
