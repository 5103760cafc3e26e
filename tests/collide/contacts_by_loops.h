// The contacts of all pairs of bodies by two plain loops on the host, without boxes, trees or sorting.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "tests/collide/moving_bodies.h"

namespace stickslip::testing {

/// What the loops know of one pair.
struct LoopPair {
  int shape_pairs = 0;                 // that touch
  std::vector<RigidContact> contacts;  // all points of all of them
  std::vector<RigidContact> reduced;   // those that are kept of the last one
};
using LoopContacts = std::map<std::pair<std::int32_t, std::int32_t>, LoopPair>;

/// Of at most `points` each.
LoopContacts contacts_by_loops(const Model& model, const HostMotion& motion, double margin, double dt,
                               int points);

/// Every pair that the loops found is there, and no other. What the loops expect to come may be missing where
/// boxes say that it does not come.
void expect_contacts(const Model& model, const HostMotion& motion, const std::vector<RigidContact>& contacts,
                     const LoopContacts& expected, double margin, double dt);

}  // namespace stickslip::testing
