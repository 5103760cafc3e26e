// State: positions, poses and velocities of a scene, on the host. It passes from one stepper to another.
#pragma once

#include <cstdint>
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

/// What a contact of two rigid bodies, or of one with a half-space, remembers of its friction: see
/// Params::penalty_friction = anchored.
struct ContactAnchor {
  std::int32_t a = -1, b = -1;  // as of the contact: bodies; b = -1 - k: half-space k
  std::uint32_t feature = 0;    // identifies the contact among those of the two
  /// [m] from the anchor to the contact, in world axes; fourth the turn about the normal times the torsion
  /// radius.
  Vec<double, 4> stretch{0, 0, 0, 0};
};

struct State {
  int frame = 0;
  double time = 0;                                    // [s]
  std::vector<Vec<double, 3>> positions, velocities;  // [m], [m/s] per node
  std::vector<BodyState> bodies = {};                 // of Model::bodies
  /// Of barrier steps, per object: the share of its thickness with which a thin object collides, below 1
  /// since a change of solver that found it overlapping. Empty: all of it, or less where surfaces overlap.
  std::vector<double> thickness = {};
  /// Of velocity-level steps with anchored penalty friction: contacts of rigid bodies whose anchor is not
  /// where they are, ordered by (a, b, feature).
  std::vector<ContactAnchor> anchors = {};
};

}  // namespace stickslip
