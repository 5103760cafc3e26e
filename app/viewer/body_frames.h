// Positions of joints.
#pragma once

#include <span>
#include <vector>

#include "app/render/frame_view.h"
#include "gpu/model/solid_joints.h"

namespace stickslip {

/// All joints of the model with its bodies at `poses` and its nodes at `positions`; the latter are needed
/// only of joints on solids, and where they are missing those have no mark.
std::vector<JointMark> joint_marks(std::span<const JointSides> joints, std::span<const Pose> poses,
                                   std::span<const Vec<float, 3>> positions);
/// All springs that have a length, with the nodes at `positions`.
std::vector<JointMark> spring_marks(std::span<const Spring> springs,
                                    std::span<const Vec<float, 3>> positions);
/// The sides of all joints.
std::vector<JointSides> joint_sides(const Model& model);

}  // namespace stickslip
