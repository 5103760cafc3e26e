// Contacts of all pairs of bodies by two plain loops on the host, without boxes, trees or sorting.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "tests/collide/moving_bodies.h"

namespace stickslip::testing {

/// Result of the loops for one pair.
struct LoopPair {
  int shape_pairs = 0;                 // touching pairs of shapes
  std::vector<RigidContact> contacts;  // all points of all shape pairs
  std::vector<RigidContact> reduced;   // points kept by the reduction of the last pair
};
using LoopContacts = std::map<std::pair<std::int32_t, std::int32_t>, LoopPair>;

/// Contacts of all pairs, at most `points` each.
LoopContacts contacts_by_loops(const Model& model, const HostMotion& motion, double margin, double dt,
                               int points);

/// Requires every pair of the loops and no other. A contact that the loops only predict may be missing if the
/// boxes rule it out.
void expect_contacts(const Model& model, const HostMotion& motion, const std::vector<RigidContact>& contacts,
                     const LoopContacts& expected, double margin, double dt);

}  // namespace stickslip::testing
