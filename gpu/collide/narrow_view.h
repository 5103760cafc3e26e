// What the kernels of the narrow phase read and write.
#pragma once

#include "gpu/collide/rigid_contact.h"
#include "gpu/collide/shape_view.h"

namespace stickslip {

/// Backend memory.
struct NarrowInput {
  ShapeView shapes;
  BodyMotionView motion;
  const std::uint8_t* state;  // per body, kMoves, kLive
  PairKeys pair_keys;
  const std::uint64_t* keys;  // of `room` candidates, PairKeys::none() behind the last
  std::size_t room;
  double margin, dt;
  int manifold_points;
  ContactListView before;
  const Pose* pose_before;  // per body, at the time of `before`
};

/// Two shapes of a candidate pair of which a body has kManyParts; b = -1: a half-space. A pair with a mesh
/// takes several places, one for each direction of contact; the candidate of all but the first is -1.
struct ShapePair {
  std::int32_t candidate, a, b;
};

/// Candidate i keeps its contacts at staged[stage[i][0]], stage[i][1] of them. Simple pairs, of one shape
/// each, have places of their own, `manifold_points` each; behind these, pairs with a compound body take what
/// they need. Where that is more than there is room for, some have none, and the counters say what is needed.
struct NarrowOutput {
  RigidContact* staged;
  Vec<std::int32_t, 2>* stage;
  std::uint64_t* tally;  // 1 << 32 | contacts, 0 for none
  // Of kManyParts only: room, and counters that are zero before.
  std::size_t contact_room, shape_pair_room;
  std::int32_t *contacts_used, *shape_pairs_used;
  ShapePair* shape_pairs;
  Manifold* manifolds;  // per shape pair
};

}  // namespace stickslip
