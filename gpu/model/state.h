// State: positions, poses and velocities of a scene, on the host. It passes from one stepper to another.
#pragma once

#include <array>
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

/// The affine body that stands for a rigid one in barrier steps.
struct StandIn {
  std::array<Vec<double, 3>, 4> positions{}, velocities{};  // [m], [m/s] of its control nodes
  double skin = 0;                                          // [m] by which its surface lies inside
};

/// What barrier steps take from the step before, beside positions, poses and velocities. Steppers ignore it
/// where it does not fit the rest of a state.
struct BarrierMemory {
  double stiffness = 0;   // [N/m] of the barrier; 0: none yet
  double stiffening = 1;  // of stand-ins, above what Params::strain_bound asks for
  /// The skin [m] and the tolerance of surfaces that settings asked for when stand-ins were made. With other
  /// settings they are made anew.
  double wanted_skin = 0, tessellation = 0;
  /// Per body of Model::bodies; of one that does not move the skin alone. Its pose and velocity leave open
  /// the strain. Empty: none.
  std::vector<StandIn> bodies = {};
  /// [m], [m/s] Nodes of bodies that follow scripts, as the barrier model has them: contacts may block a
  /// script's way.
  std::vector<Vec<double, 3>> colliders = {}, collider_velocities = {};
  std::vector<Vec<double, 3>> multipliers = {};  // [N] of the joints' constraints; empty: none

  bool is_empty() const { return stiffness == 0 && stiffening == 1 && bodies.empty() && multipliers.empty(); }
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
  BarrierMemory barrier = {};
};

}  // namespace stickslip
