// Overlap and drift of boxes, measured from their poses alone, with no code of the library.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/rigid_scenes.h"

namespace stickslip {

/// The largest gap [m] between the projections of two boxes onto the 15 axes of the separating-axis
/// test: face normals and cross products of edges. < 0: they overlap, and a shift by this length along
/// one axis separates them.
double box_separation(const SceneBox& a, const SceneBox& b);

struct OverlapReport {
  std::size_t touching = 0;  // pairs less than kTouching apart; the floor counts as a box
  double deepest = 0;        // [m]
  double mean = 0;           // [m] over all touching pairs; a gap counts as 0
};
constexpr double kTouching = 1e-3;  // [m]

/// For all pairs with a movable box, and for boxes and the floor y = 0.
OverlapReport measure_overlaps(const std::vector<SceneBox>& boxes);

struct DriftReport {
  double largest = 0, mean = 0;  // [m] horizontal distance between start and end
  int fallen = 0;                // boxes that dropped by more than half their height
};

/// For the movable boxes; `start` and `end` are the same boxes. A pose that is not finite counts as fallen
/// and makes the drift infinite.
DriftReport measure_drift(const std::vector<SceneBox>& start, const std::vector<SceneBox>& end);

}  // namespace stickslip
