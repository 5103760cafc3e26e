#include "app/viewer/body_frames.h"

#include <cmath>

namespace stickslip {
namespace {

/// The node of the object that `score` is largest at.
template <class Score>
std::int32_t farthest(const Object& object, Score score) {
  std::int32_t best = object.node_begin;
  double most = -1;
  for (std::int32_t i = object.node_begin; i < object.node_end; ++i)
    if (const double value = score(i); value > most) {
      most = value;
      best = i;
    }
  return best;
}

bool has_axis(JointKind kind) {
  return kind == JointKind::hinge || kind == JointKind::slider || kind == JointKind::gear;
}

}  // namespace

BodyFrame::BodyFrame(const Model& model, const Body& body) {
  if (body.object < 0) return;
  const Object& object = model.objects[static_cast<std::size_t>(body.object)];
  if (object.node_end - object.node_begin < 4) return;
  const auto& x = model.rest_positions;
  // The farthest from the origin, from it, from the line through both, and from the plane of the three.
  const std::int32_t p = farthest(object, [&](std::int32_t i) { return norm2(x[i]); });
  const std::int32_t q = farthest(object, [&](std::int32_t i) { return norm2(x[i] - x[p]); });
  const std::int32_t r =
      farthest(object, [&](std::int32_t i) { return norm2(cross(x[q] - x[p], x[i] - x[p])); });
  const Vec<double, 3> normal = cross(x[q] - x[p], x[r] - x[p]);
  const std::int32_t s =
      farthest(object, [&](std::int32_t i) { return std::fabs(dot(normal, x[i] - x[p])); });
  const Mat<double, 3> edges = Mat<double, 3>::from_columns({x[q] - x[p], x[r] - x[p], x[s] - x[p]});
  const double size = norm(x[q] - x[p]);
  if (!(std::fabs(determinant(edges)) > 1e-9 * size * size * size)) return;
  nodes_ = {p, q, r, s};
  rest_ = x[p];
  inverse_edges_ = inverse(edges);
}

std::optional<Pose> BodyFrame::pose(std::span<const Vec3f> positions) const {
  if (nodes_[0] < 0) return std::nullopt;
  const auto at = [&](std::size_t i) {
    return positions[static_cast<std::size_t>(nodes_[i])].cast<double>();
  };
  const Vec<double, 3> first = at(0);
  const Mat<double, 3> edges = Mat<double, 3>::from_columns({at(1) - first, at(2) - first, at(3) - first});
  const Quat turn = quaternion_of(edges * inverse_edges_);
  return Pose{first - turn.rotate(rest_), turn};
}

std::vector<BodyFrame> frames_of(const Model& model) {
  std::vector<BodyFrame> frames;
  frames.reserve(model.bodies.size());
  for (const Body& body : model.bodies) frames.emplace_back(model, body);
  return frames;
}

std::vector<JointMark> joint_marks(const Model& model, std::span<const BodyFrame> frames,
                                   std::span<const Vec3f> positions) {
  std::vector<JointMark> marks;
  marks.reserve(model.joints.size());
  const auto pose_of = [&](std::int32_t body) -> std::optional<Pose> {
    return body < 0 ? Pose::identity() : frames[static_cast<std::size_t>(body)].pose(positions);
  };
  for (const Joint& joint : model.joints) {
    const std::optional<Pose> a = pose_of(joint.a), b = pose_of(joint.b);
    if (!a || !b) continue;
    const Pose frame = *a * joint.frame_a;
    JointMark mark;
    mark.a = frame.x.cast<float>();
    mark.b = b->apply(joint.frame_b.x).cast<float>();
    if (has_axis(joint.kind)) mark.axis = frame.q.rotate({1, 0, 0}).cast<float>();
    marks.push_back(mark);
  }
  return marks;
}

}  // namespace stickslip
