// Where the blocks of BlockSweeps come from: the joints of a step, or a problem of the lab.
#pragma once

#include "gpu/rigid/bodies.cuh"
#include "gpu/rigid/joint_rows.h"

namespace stickslip {

/// The blocks of joints; see fill_joint_block. Backend memory.
template <int D>
struct JointBlocks {
  BodiesView bodies;
  const DeviceJoint* joint = nullptr;
  const std::int32_t *joint_of = nullptr, *part = nullptr;  // per block
  ErrorFeedback feedback{};

  SS_HD ConstraintBlock<D> operator()(std::size_t c) const {
    const DeviceJoint& j = joint[joint_of[c]];
    ConstraintBlock<D> block;
    fill_joint_block(j, part[c], bodies.at_step(j.a), bodies.at_step(j.b), feedback, block);
    return block;
  }
};

/// Blocks in backend memory.
struct BlockReader {
  const ConstraintBlock<3>* block;

  SS_HD ConstraintBlock<3> operator()(std::size_t c) const { return block[c]; }
};

}  // namespace stickslip
