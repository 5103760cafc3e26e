// Stands in for CUDA's header of the same name.
#pragma once

#include "tests/device/kernel.h"

namespace cooperative_groups {
struct grid_group {
  void sync() const { stickslip::emulation::grid_barrier(); }
};
inline grid_group this_grid() { return {}; }
}  // namespace cooperative_groups
