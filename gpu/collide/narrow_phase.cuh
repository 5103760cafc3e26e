// The narrow phase: contacts of candidate pairs, and which contact of the step before each of them is.
#pragma once

#include "gpu/collide/contact_list.cuh"
#include "gpu/collide/shape_view.h"

namespace stickslip {

/// Backend memory.
struct NarrowInput {
  ShapeView shapes;
  BodyMotionView motion;
  const std::uint8_t* state;  // per body, see pair_search.cuh
  PairKeys pair_keys;
  const std::uint64_t* keys;  // of `room` candidates, PairKeys::none() behind the last
  std::size_t room;
  double margin, dt;
  int manifold_points;
  ContactListView before;
  const Pose* pose_before;  // per body, at the time of `before`
};

/// Candidate i keeps its contacts at staged[stage[i][0]], stage[i][1] of them. Simple pairs have places of
/// their own, `manifold_points` each; behind these, pairs with a compound body take what they need.
struct NarrowOutput {
  RigidContact* staged;
  std::size_t compound_room;  // contacts of compounds that `staged` has room for
  Vec<std::int32_t, 2>* stage;
  std::uint64_t* tally;         // 1 << 32 | contacts, 0 for none
  std::int32_t* compound_used;  // one, zero before: contacts of compounds found
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

void find_simple_contacts(Context& ctx, const NarrowInput& in, const NarrowOutput& out);
/// Of pairs of which at least one body has several shapes. Where the room does not suffice, the pair has
/// none, and `compound_used` says more than `compound_room`.
void find_compound_contacts(Context& ctx, const NarrowInput& in, const NarrowOutput& out);

}  // namespace stickslip::STICKSLIP_BACKEND
