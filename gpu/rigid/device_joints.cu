#include "gpu/rigid/device_joints.cuh"

#include "gpu/model/solid_joints.h"
#include "gpu/rigid/solid_frames.h"

namespace stickslip::STICKSLIP_BACKEND {

void DeviceJoints::load(Context& ctx, const Model& model) {
  std::vector<DeviceJoint> joints;
  std::vector<std::int32_t> joint_of, part;
  std::vector<std::uint8_t> jointed(model.bodies.size());
  ends_ = {};
  for (const Body& body : model.bodies) ends_.moves.push_back(body.moves ? 1 : 0);
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    DeviceJoint joint = device_joint(model.joints[j]);
    if (holds_solid(model.joints[j])) joint.length = solid_joint_length(model, model.joints[j]);
    for (int i = 0; i < joint_block_count(joint); ++i) {
      joint_of.push_back(static_cast<std::int32_t>(j));
      part.push_back(i);
    }
    ends_.start.push_back(static_cast<std::int32_t>(joint_of.size()));
    ends_.bodies.push_back({joint.a, joint.b});
    for (const std::int32_t body : {joint.a, joint.b})
      if (body >= 0) jointed[static_cast<std::size_t>(body)] = 1;
    joints.push_back(joint);
  }
  joints_.upload(ctx, joints);
  block_joint_.upload(ctx, joint_of);
  block_part_.upload(ctx, part);
  jointed_.upload(ctx, jointed);
  GroupOrder order = colour_groups(ends_.bodies, ends_.moves);
  group_.upload(ctx, order.group);
  group_start_.upload(ctx, ends_.start);
  colours_ = std::move(order.colours);
}

}  // namespace stickslip::STICKSLIP_BACKEND
