// Points that move with a surface. Host only.
#pragma once

#include <span>
#include <vector>

#include "gpu/math/vec.h"

namespace stickslip {

/// A surface at its start, and at the frames of a sequence.
struct MovingSurface {
  std::span<const Vec<double, 3>> nodes;  // [m]
  std::span<const Vec<int, 3>> triangles;
  std::span<const std::vector<Vec<double, 3>>> frames;  // of the nodes [m]
};

/// A point, and the one whose nearest triangle it moves with.
struct Follower {
  Vec<double, 3> point, root;  // [m]
};

/// The points at each frame: point p of a root whose nearest point c has the weights w in a triangle goes to
/// c' + R (p - c), where c' has the same weights in the triangle's new place, and R turns its first edge and
/// its normal. Throws std::invalid_argument if such a triangle has no area.
std::vector<std::vector<Vec<double, 3>>> carried_points(const MovingSurface& surface,
                                                        std::span<const Follower> followers);

}  // namespace stickslip
