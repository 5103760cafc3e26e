// Boxes of a bounding volume hierarchy, for pictures of it.
#pragma once

#include <cstdint>

#include "gpu/math/vec.h"

namespace stickslip {

struct TreeBox {
  Vec<float, 3> low{0, 0, 0}, high{0, 0, 0};  // [m]
  std::int32_t depth = 0;                     // 0: the root
  bool is_leaf = false;

  /// Whether it is one of the boxes that replace the root at this depth: of that depth, or a leaf above it.
  bool is_on_level(int level) const { return depth == level || (is_leaf && depth < level); }
};

}  // namespace stickslip
