// Inputs and outputs of the narrow phase's kernels.
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
  const std::uint64_t* keys;  // of `room` candidates, PairKeys::none() after the last one
  std::size_t room;
  double margin, dt;
  int manifold_points;
  ContactListView before;
  const Pose* pose_before;  // per body, at the time of `before`
};

/// Two shapes of a candidate pair in which a body has kManyParts; b = -1: a half-space. A pair with a mesh
/// uses several slots, one for each direction of contact; in all but the first, `candidate` is -1.
struct ShapePair {
  std::int32_t candidate, a, b;
};

/// The contacts of candidate i are the stage[i][1] ones from staged[stage[i][0]] on. Simple pairs, of one
/// shape each, have `manifold_points` slots of their own; pairs with a compound body allocate slots after
/// these. If the room is insufficient, some get none, and the counters return the required room.
struct NarrowOutput {
  RigidContact* staged;
  Vec<std::int32_t, 2>* stage;
  std::uint64_t* tally;  // 1 << 32 | contacts, 0 for none
  // Of kManyParts only: room, and counters that must be zero at the start.
  std::size_t contact_room, shape_pair_room;
  std::int32_t *contacts_used, *shape_pairs_used;
  ShapePair* shape_pairs;
  Manifold* manifolds;  // per shape pair
};

}  // namespace stickslip
