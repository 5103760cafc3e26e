// The kernels of ContactSystem that fill blocks of joints and contacts, and the impulses to start from.
#pragma once

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/law/projection.h"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/manifold/block_sources.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The law and the rows of a joint block.
template <int D>
struct JointBlockFiller {
  JointBlocks<D> joints;
  ContactLaw<D>* law;
  BlockWriter<D> writer;

  SS_HD void operator()(std::size_t c) const {
    const ConstraintBlock<D> block = joints(c);
    law[c] = block.law;
    writer.put(c, block);
  }
};

/// The law and the rows of a contact; `first`: the block of the first one.
template <int D>
struct ContactBlockFiller {
  ContactBlocks<D> blocks;
  const RigidContact* contact;
  std::size_t first;
  ContactLaw<D>* law;
  BlockWriter<D> writer;

  SS_HD void operator()(std::size_t i) const {
    const ConstraintBlock<D> block = blocks.of(contact[i]);
    law[first + i] = block.law;
    writer.put(first + i, block);
  }
};

/// Impulses of the last step as guesses for this one; zero for new contacts.
template <int D>
struct StartImpulses {
  const ContactLaw<D>* law;
  const double* jacobian;
  const Vec<double, D>* joint_r;
  const RigidContact* contact;
  const Vec<double, 4>* world;      // of the last step's contacts, in world axes
  std::size_t joints, world_count;  // blocks of this step's joints; entries of `world`
  Vec<double, D>*r, *guess;

  SS_HD void operator()(std::size_t c) const {
    Vec<double, D> start = Vec<double, D>::zero();
    if (c < joints) {
      start = project(law[c], joint_r[c]);
    } else if (const std::int32_t p = contact[c - joints].previous;
               p >= 0 && static_cast<std::size_t>(p) < world_count) {
      start = start_impulse(law[c], jacobian + 2 * c * D * 6, world[p]);
    }
    r[c] = guess[c] = start;
  }
};

}  // namespace stickslip::STICKSLIP_BACKEND
