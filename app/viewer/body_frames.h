// Where rigid bodies are, seen from the nodes of their surfaces; and with that, where joints are.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "app/render/frame_view.h"
#include "gpu/model/model.h"

namespace stickslip {

/// A body's frame by four nodes of its object that lie far from one plane.
class BodyFrame {
 public:
  BodyFrame(const Model& model, const Body& body);

  /// Nothing where the object has no such nodes. `positions`: one per node [m].
  std::optional<Pose> pose(std::span<const Vec3f> positions) const;

 private:
  std::array<std::int32_t, 4> nodes_{-1, -1, -1, -1};
  Vec<double, 3> rest_{0, 0, 0};  // of the first node, in the body's frame [m]
  Mat<double, 3> inverse_edges_ = Mat<double, 3>::zero();
};

std::vector<BodyFrame> frames_of(const Model& model);

/// All joints of the model as they stand now; those between bodies that cannot be found are left out.
std::vector<JointMark> joint_marks(const Model& model, std::span<const BodyFrame> frames,
                                   std::span<const Vec3f> positions);

}  // namespace stickslip
