// Bodies that overlap at the start: an error in the scene that must not launch them.
#pragma once

#include <string>
#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "gpu/model/model.h"

namespace stickslip {

/// An overlap by more than a twentieth of the smaller body's reach (body_reaches).
struct DeepOverlap {
  std::int32_t a, b;  // bodies; b = -1 - k: half-space k
  double depth;       // [m]
};

/// The deepest point of each such pair of bodies, deepest first.
std::vector<DeepOverlap> deep_overlaps(const Model& model, const std::vector<RigidContact>& contacts);

/// The message for the user; empty without overlaps.
std::string describe(const std::vector<DeepOverlap>& overlaps, const Model& model);

}  // namespace stickslip
