// Whether an object's surface overlaps others, and the room that it needs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/model/model.h"

namespace stickslip {

/// What counts as an overlap.
struct OverlapRule {
  double slack = 0;  // so much of an edge, from its ends, may be inside of another surface, as of what rests
  double gap = 0;    // [m] kept from others by what is lifted
};

/// The name of an object, or "half-space K", that the object of this number overlaps with all nodes at
/// `positions` [m]: surfaces cross, or one closed surface contains the other. Distances that thin objects
/// keep are not counted. Pairs that never touch do not overlap, and nothing overlaps the objects of `apart`.
/// Empty: there is none.
std::string overlapped_by(const Model& model, int object, const std::vector<Vec<double, 3>>& positions,
                          const OverlapRule& rule, std::span<const int> apart = {});

/// How far up the object must go to overlap nothing [m], at most half of its height and the gap; 0 where it
/// is free. None: there is no room.
std::optional<double> lift_to_free(const Model& model, int object, std::vector<Vec<double, 3>> positions,
                                   const OverlapRule& rule);

}  // namespace stickslip
