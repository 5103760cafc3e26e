// DeviceJoints: the joints of a model in backend memory, and their blocks of rows.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/model/model.h"
#include "gpu/rigid/joint_rows.h"
#include "gpu/rigid/manifold/rough_contacts.cuh"

namespace stickslip::STICKSLIP_BACKEND {

class DeviceJoints {
 public:
  void load(Context& ctx, const Model& model);

  std::size_t size() const { return joints_.size(); }
  const DeviceJoint* joints() const { return joints_.data(); }
  std::size_t blocks() const { return block_joint_.size(); }
  /// Of each block: its joint, and its index among that joint's blocks.
  const std::int32_t* block_joint() const { return block_joint_.data(); }
  const std::int32_t* block_part() const { return block_part_.data(); }
  /// The blocks of each joint as a group.
  BlockGroups groups() const { return {group_.data(), group_start_.data(), colours_}; }
  const JointEnds& ends() const { return ends_; }
  /// Per body: 1 if a joint is attached.
  const std::uint8_t* jointed() const { return jointed_.data(); }

 private:
  Buffer<DeviceJoint> joints_;
  Buffer<std::int32_t> block_joint_, block_part_, group_, group_start_;
  std::vector<std::size_t> colours_;
  JointEnds ends_;
  Buffer<std::uint8_t> jointed_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
