// Positions of joints.
#pragma once

#include <span>
#include <vector>

#include "app/render/frame_view.h"
#include "gpu/model/model.h"

namespace stickslip {

/// All joints of the model with its bodies at `poses`.
std::vector<JointMark> joint_marks(const Model& model, std::span<const Pose> poses);

}  // namespace stickslip
