// The kernels of ContactSystem that fill blocks of joints and contacts, and the impulses to start from.
#pragma once

#include "gpu/dfcp/operator/delassus.cuh"
#include "gpu/law/projection.h"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/manifold/block_sources.h"
#include "gpu/rigid/point_cores.h"

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
  AnchorView anchors;
  PointCores cores;
  std::size_t first;
  ContactLaw<D>* law;
  BlockWriter<D> writer;

  SS_HD void operator()(std::size_t i) const {
    ConstraintBlock<D> block = blocks.of(i, contact[i]);
    if (blocks.soft && blocks.penalty.anchored())
      pull_to_anchor(blocks.penalty, stretch_of_rows(block, anchors(i)), block);
    cores.replace(contact[i].point, block);
    law[first + i] = block.law;
    writer.put(first + i, block);
  }
};

/// Updates q of contacts when the velocities without impulses change of particles that cores replaced.
template <int D>
struct PointMover {
  const RigidContact* contact;
  PointCores cores;
  std::size_t first;
  const double *jacobian, *change;  // `change`: 6 per body
  Vec<double, D>* q;

  SS_HD void operator()(std::size_t i) const {
    const std::size_t c = first + i;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t b = side == 0 ? contact[i].a : contact[i].b;
      if (b < 0 || cores.of(b) < 0) continue;
      const double* t = change + 6 * static_cast<std::size_t>(b);
      for (int k = 0; k < 3; ++k) {
        const double* row = jacobian + ((2 * c + side) * D + static_cast<std::size_t>(k)) * 6;
        q[c][k] += row[0] * t[0] + row[1] * t[1] + row[2] * t[2];
      }
    }
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
  const Vec<double, 3>* moment;     // likewise, of rolling resistance; null: none
  std::size_t joints, world_count;  // blocks of this step's joints; entries of `world`
  Vec<double, D>*r, *guess;

  SS_HD void operator()(std::size_t c) const {
    Vec<double, D> start = Vec<double, D>::zero();
    if (c < joints) {
      start = project(law[c], joint_r[c]);
    } else if (const std::int32_t p = contact[c - joints].previous;
               p >= 0 && static_cast<std::size_t>(p) < world_count) {
      start = start_impulse(law[c], jacobian + 2 * c * D * 6, world[p],
                            moment != nullptr ? moment[p] : Vec<double, 3>{0, 0, 0});
    }
    r[c] = guess[c] = start;
  }
};

}  // namespace stickslip::STICKSLIP_BACKEND
