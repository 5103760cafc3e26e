// SolidSystem: the linear system of the elastic solids in one step, on the host.
#pragma once

#include <vector>

#include "gpu/elastic/surface_point.h"
#include "gpu/linear/host_blocks.h"

namespace stickslip {

/// The elastic side of one step: A v = f + B' R.
struct SolidSystem {
  HostBlocks matrix;  // A / dt^2 [N/m]
  double dt = 0;
  std::vector<Vec3> f, velocity;     // per node [N s]; velocities of fixed nodes [m/s]
  std::vector<std::uint8_t> held;    // 1: scripted
  std::vector<SurfacePoint> points;  // of each contact
};

}  // namespace stickslip
