// Plain types of the contact search: a contact, the bodies' motion, and a list of contacts by pairs.
#pragma once

#include "gpu/collide/pair_key.h"
#include "gpu/math/quat.h"

namespace stickslip {

/// One point of contact. The normal points from b to a.
struct RigidContact {
  std::int32_t a, b;      // bodies; b = -1 - k: half-space k. At least one of them is movable
  Vec<double, 3> point;   // [m] world, halfway between the surfaces
  Vec<double, 3> normal;  // unit
  double gap;             // [m]; < 0: overlap
  std::uint32_t feature;  // identifies it among the contacts of the same two bodies
  std::int32_t previous;  // index of the same contact in the last step's list; -1: new
};

/// Poses and velocities for the contact search. Backend memory, one entry per body of the model.
struct BodyMotionView {
  const Pose* pose;
  const Vec<double, 3>* velocity;  // [m/s] of the centre
  const Vec<double, 3>* spin;      // [rad/s] world
  const std::uint8_t* moves;       // 0: static or scripted: two of these never touch
  const std::uint8_t* asleep;  // pairs of sleeping or immovable bodies keep their contacts; null: all awake
};

/// Bits of a body's state in the search.
inline constexpr std::uint8_t kMoves = 1;  // is pushed by contacts
inline constexpr std::uint8_t kLive = 2;   // may have moved since the last step

/// Contacts by pairs, ordered by key; those of pair p are [pair_start[p], pair_start[p + 1]). Backend memory.
struct ContactListView {
  const RigidContact* contacts;
  const std::int32_t* pair_start;
  const std::uint64_t* keys;
  const std::int32_t* first;  // per body and one more: its first pair as side a
  std::int32_t pairs;

  /// The pair with this key and side a; -1: not found.
  SS_HD std::int32_t find(std::int32_t a, std::uint64_t key) const {
    if (pairs == 0) return -1;
    std::int32_t low = first[a], high = first[a + 1];
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (keys[middle] < key) low = middle + 1;
      else high = middle;
    }
    return low < first[a + 1] && keys[low] == key ? low : -1;
  }
};

}  // namespace stickslip
