// How well boxes keep apart and stay where they were: judged by their poses alone, with nothing of the code
// that is judged.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/rigid_scenes.h"

namespace stickslip {

/// The largest gap [m] between the projections of two boxes onto the 15 axes of the separating-axis test:
/// face normals and cross products of edges. < 0: they overlap, and this much of a shift along one axis parts
/// them.
double box_separation(const SceneBox& a, const SceneBox& b);

struct OverlapReport {
  std::size_t touching = 0;  // pairs less than kTouching apart, the floor counted as one of them
  double deepest = 0;        // [m]
  double mean = 0;           // [m] over all that touch; a gap counts as 0
};
constexpr double kTouching = 1e-3;  // [m]

/// Of all pairs in which a box moves, and of boxes with the floor y = 0.
OverlapReport measure_overlaps(const std::vector<SceneBox>& boxes);

struct DriftReport {
  double largest = 0, mean = 0;  // [m] horizontal way between start and end
  int fallen = 0;                // boxes that are more than half their height lower than they were
};

/// Of the boxes that move; `start` and `end` are the same boxes. A pose that is not finite counts as fallen,
/// and makes the drift infinite.
DriftReport measure_drift(const std::vector<SceneBox>& start, const std::vector<SceneBox>& end);

}  // namespace stickslip
