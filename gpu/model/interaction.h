// Contacts as a viewer shows them, and the spring of its pointer: plain host types.
#pragma once

#include <cstdint>

#include "gpu/math/vec.h"
#include "gpu/model/step_kind.h"

namespace stickslip {

enum class ContactState : std::uint8_t { open, stick, slip };

/// Names a contact: the parts (bodies, features or nodes) that it is made of, mixed one by one from 0 on.
/// Different contacts may share a name.
SS_HD inline std::uint64_t mix_name(std::uint64_t name, std::int64_t part) {
  name ^= static_cast<std::uint64_t>(part) + 0x9e3779b97f4a7c15ULL;
  // The finaliser of MurmurHash3: every bit of the input reaches every bit of the name.
  name ^= name >> 33;
  name *= 0xff51afd7ed558ccdULL;
  name ^= name >> 33;
  name *= 0xc4ceb9fe1a85ec53ULL;
  name ^= name >> 33;
  return name;
}

/// One active contact as the viewer shows it.
struct ContactRecord {
  Vec<float, 3> point;              // [m]
  Vec<float, 3> normal;             // unit, pointing to side a
  float gap = 0;                    // [m]
  float normal_force = 0;           // [N]
  float slip_speed = 0;             // [m/s]
  float multiplier = 0;             // [N], part of normal_force
  Vec<float, 3> friction{0, 0, 0};  // [N] of side b on side a, along the surface
  float cone_share = 0;             // of the friction that the law allows in its direction; 1: it slides
  std::int32_t object_a = -1, object_b = -1;  // -1: a half-space
  ContactState state = ContactState::open;    // open: within d_hat, but without noticeable force
  bool augmented = false;                     // has a multiplier [Guo24 Alg.1]
  StepKind step_kind = StepKind::none;
  std::uint8_t unused[1] = {};  // no padding: records are copied from device to host whole
  float rolling_moment = 0;     // [N m] of rolling resistance on side a, its size
  float rolling_share = 0;      // of the moment that the law allows; 1: the contact rolls
  float mu = 0;      // friction that the law allows over the normal force, in the direction of friction
  float error = -1;  // [m/s] e_c: by how much the impulse misses the law; < 0: not known (penalties)
  /// Contacts of one colour are solved at once by a solver of the lab that sweeps by colours; -1: not known.
  std::int32_t colour = -1;
  float step_normal = 0, step_tangent = 0;  // what the solver used here last, see step_kind
  /// [m^2] over which the normal force acts, see gpu/model/contact_area.h; 0: none, as of points and lines.
  float area = 0;
  /// [s] since the contact appeared, with no step in between that did not have it; < 0: not known. Engines do
  /// not set it: ContactAges of the viewer does.
  float age = -1;
  /// Equal in all steps in which the same features of the same bodies touch (see mix_name); 0: unnamed.
  std::uint64_t name = 0;

  /// [Pa] normal force over area; < 0: not known.
  SS_HD float pressure() const { return area > 0 ? normal_force / area : -1; }
};

/// A spring between a material point (barycentric on a surface triangle) and a target in space.
struct Drag {
  Vec3i triangle{0, 0, 0};  // node indices
  Vec<double, 3> weights{1, 0, 0};
  Vec<double, 3> target{0, 0, 0};  // [m]
};

}  // namespace stickslip
