// SolidSystem: the linear system of the elastic solids in one step, on the host.
#pragma once

#include <vector>

#include "gpu/elastic/surface_point.h"
#include "gpu/linear/host_blocks.h"
#include "gpu/model/model.h"
#include "gpu/model/tet_frame.h"

namespace stickslip {

/// A node of an affine body or of the surface of a solid in a lattice or of frames: the nodes that it
/// follows, with their weights; -1: none.
struct FollowingNode {
  Leaders controls = Leaders::filled(-1);
  LeaderWeights weights{};

  bool follows() const { return controls[0] >= 0; }
};

/// The elastic side of one step: A v = f + B' R.
struct SolidSystem {
  HostBlocks matrix;  // A / dt^2 [N/m]
  double dt = 0;
  std::vector<Vec3> f, velocity;       // per node [N s]; velocities of fixed nodes [m/s]
  std::vector<std::uint8_t> held;      // 1: scripted, or it follows other nodes
  std::vector<FollowingNode> follows;  // per node; empty: none does
  std::vector<SurfacePoint> points;    // of each contact
  std::vector<TetFrame> frames;        // of the sides of joints
  std::vector<Vec4i> frame_nodes;      // likewise
};

}  // namespace stickslip
