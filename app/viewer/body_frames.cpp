#include "app/viewer/body_frames.h"

namespace stickslip {
namespace {

bool has_axis(JointKind kind) {
  return kind == JointKind::hinge || kind == JointKind::slider || kind == JointKind::gear;
}

}  // namespace

std::vector<JointMark> joint_marks(const Model& model, std::span<const Pose> poses) {
  std::vector<JointMark> marks;
  marks.reserve(model.joints.size());
  const auto pose_of = [&](std::int32_t body) {
    return body < 0 ? Pose::identity() : poses[static_cast<std::size_t>(body)];
  };
  for (const Joint& joint : model.joints) {
    const Pose frame = pose_of(joint.a) * joint.frame_a;
    JointMark mark;
    mark.a = frame.x.cast<float>();
    mark.b = pose_of(joint.b).apply(joint.frame_b.x).cast<float>();
    if (has_axis(joint.kind)) mark.axis = frame.q.rotate({1, 0, 0}).cast<float>();
    marks.push_back(mark);
  }
  return marks;
}

}  // namespace stickslip
