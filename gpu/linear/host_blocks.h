// HostBlocks: a symmetric block matrix in host memory, for solvers that only run there.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/math/mat.h"

namespace stickslip {

/// The sum of `blocks`, each at its place (row, column) in nodes, and of the transposes of those off the
/// diagonal at the mirrored places. A place may come more than once.
struct HostBlocks {
  std::size_t node_count = 0;
  std::vector<Vec2i> places;
  std::vector<Mat3> blocks;
};

}  // namespace stickslip
