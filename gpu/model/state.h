// State: positions, poses and velocities of a scene, on the host. It passes from one stepper to another.
#pragma once

#include <vector>

#include "gpu/math/quat.h"
#include "gpu/math/vec.h"

namespace stickslip {

/// The state of a rigid body.
struct BodyState {
  Pose pose = Pose::identity();      // of the centre and the principal axes
  Vec<double, 3> velocity{0, 0, 0};  // [m/s] of the centre
  Vec<double, 3> spin{0, 0, 0};      // [rad/s] world axes
};

struct State {
  int frame = 0;
  double time = 0;                                    // [s]
  std::vector<Vec<double, 3>> positions, velocities;  // [m], [m/s] per node
  std::vector<BodyState> bodies = {};                 // of Model::bodies
  /// Of barrier steps, per object: the share of its thickness with which a thin object collides, below 1
  /// since a change of solver that found it overlapping. Empty: all of it, or less where surfaces overlap.
  std::vector<double> thickness = {};
};

}  // namespace stickslip
