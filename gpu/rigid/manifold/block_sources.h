// Where the blocks of BlockSweeps come from: a step, or a problem of the lab.
#pragma once

#include "gpu/law/projection.h"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/joint_rows.h"
#include "gpu/rigid/point_cores.h"

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

/// The initial impulse of a contact: `force`, its impulse of the last step in world axes with torsion fourth,
/// transformed into the frame of its rows and projected onto its cone. `rows`: those of side a, six numbers
/// each; `moment`: of rolling resistance, see rolling_moment.
template <int D>
SS_HD inline Vec<double, D> start_impulse(const ContactLaw<D>& law, const double* rows,
                                          const Vec<double, 4>& force,
                                          const Vec<double, 3>& moment = {0, 0, 0}) {
  Vec<double, D> start = Vec<double, D>::zero();
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) start[i] += rows[6 * i + k] * force[k];
  if (D == 4) start[D - 1] = force[3];
  if constexpr (D == kRollingRows)
    for (int i = 3; i < D; ++i) {
      const Vec<double, 3> row{rows[6 * i + 3], rows[6 * i + 4], rows[6 * i + 5]};
      if (norm2(row) > 0) start[i] = dot(row, moment) / norm2(row);
    }
  return project(law, start);
}

/// The inverse: an impulse in world axes, torsion fourth.
template <int D>
SS_HD inline Vec<double, 4> world_impulse(const double* rows, const Vec<double, D>& r) {
  Vec<double, 4> f = Vec<double, 4>::zero();
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) f[k] += rows[6 * i + k] * r[i];
  if (D == 4) f[3] = r[D - 1];
  return f;
}

/// The impulse [N m s] of rolling resistance on side a, in world axes.
template <int D>
SS_HD inline Vec<double, 3> rolling_moment(const double* rows, const Vec<double, D>& r) {
  Vec<double, 3> moment{0, 0, 0};
  if constexpr (D == kRollingRows)
    for (int i = 3; i < D; ++i)
      for (int k = 0; k < 3; ++k) moment[k] += rows[6 * i + 3 + k] * r[i];
  return moment;
}

/// Impulses of the last step. Backend memory; null: zero.
template <int D>
struct StepImpulses {
  const Vec<double, D>* joints = nullptr;    // per joint block
  const Vec<double, 4>* contacts = nullptr;  // in world axes, by RigidContact::previous
  std::size_t count = 0;                     // of `contacts`
};

/// The blocks of a step that no manifold holds: joints, then the contacts of RoughContacts.
template <int D>
struct StepBlocks {
  JointBlocks<D> joints{};
  std::size_t joint_count = 0;
  ContactBlocks<D> contacts{};
  const RigidContact* contact = nullptr;
  const std::int32_t* rough = nullptr;  // indices of those contacts
  PointCores cores{};
  StepImpulses<D> before{};

  SS_HD ConstraintBlock<D> operator()(std::size_t c) const {
    if (c < joint_count) return joints(c);
    const auto i = static_cast<std::size_t>(rough[c - joint_count]);
    const RigidContact& of = contact[i];
    ConstraintBlock<D> block = contacts.of(i, of);
    cores.replace(of.point, block);
    return block;
  }
  /// The place of block c among all blocks of the step: joints, then contacts in list order.
  SS_HD std::size_t place(std::size_t c) const {
    return c < joint_count ? c : joint_count + static_cast<std::size_t>(rough[c - joint_count]);
  }
  SS_HD Vec<double, D> start(std::size_t c, const ConstraintBlock<D>& block) const {
    if (c < joint_count)
      return before.joints != nullptr ? project(block.law, before.joints[c]) : Vec<double, D>::zero();
    const std::int32_t previous = contact[rough[c - joint_count]].previous;
    if (before.contacts == nullptr || previous < 0 || static_cast<std::size_t>(previous) >= before.count)
      return Vec<double, D>::zero();
    return start_impulse(block.law, &block.jacobian[0][0][0], before.contacts[previous]);
  }
};

/// Blocks in backend memory, with the impulses to start from.
struct BlockReader {
  const ConstraintBlock<3>* block = nullptr;
  const Vec<double, 3>* from = nullptr;

  SS_HD ConstraintBlock<3> operator()(std::size_t c) const { return block[c]; }
  SS_HD Vec<double, 3> start(std::size_t c, const ConstraintBlock<3>& rows) const {
    return project(rows.law, from[c]);
  }
};

}  // namespace stickslip
