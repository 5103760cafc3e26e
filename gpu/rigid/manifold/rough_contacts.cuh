// RoughContacts: the contacts of a step that are in no manifold, and the order in which BlockSweeps solves
// them and the joints.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "gpu/core/buffer.h"
#include "gpu/rigid/contact_blocks.h"
#include "gpu/rigid/manifold/block_groups.h"
#include "gpu/rigid/point_cores.h"

namespace stickslip {

/// The blocks of joints, on the host: those of joint j are [start[j], start[j + 1]).
struct JointEnds {
  std::vector<std::array<std::int32_t, 2>> bodies;  // of each joint; -1: the world
  std::vector<std::int32_t> start{0};
  std::vector<std::uint8_t> moves;  // per body

  bool operator==(const JointEnds&) const = default;
};

/// The contacts of a step. The last `of_solids` are contacts of elastic solids.
struct SteppedContacts {
  const RigidContact* contacts = nullptr;
  std::size_t count = 0, of_solids = 0;
  PlainContacts plain{};
  PointCores cores{};
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

class RoughContacts {
 public:
  /// Finds the contacts that are not plain and those of elastic solids, and colours them together with the
  /// joints. The colours of the last call stay while the contacts have the same bodies in the same order: one
  /// host read. Otherwise the host colours anew: a second one. Not for steps without such contacts.
  void find(Context& ctx, const SteppedContacts& list, const JointEnds& joints);

  std::size_t size() const { return count_; }
  /// Their indices, ascending.
  const std::int32_t* indices() const { return index_.data(); }
  /// The blocks of each joint as a group, then each of these contacts.
  BlockGroups groups() const { return {group_.data(), start_.data(), colours_}; }

 private:
  void colour(Context& ctx, const JointEnds& joints);

  std::size_t count_ = 0;
  Buffer<std::int32_t> index_, group_, start_;
  Buffer<Vec2i> found_;                   // number of contacts, and whether their bodies differ from these
  Buffer<Vec2i> bodies_, coloured_;       // of the contacts now, and when they were coloured
  std::optional<JointEnds> with_joints_;  // what they were coloured with
  std::vector<std::size_t> colours_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
