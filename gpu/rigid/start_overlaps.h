// Bodies that begin inside each other: a scene's mistake, which must not make them fly apart.
#pragma once

#include <string>
#include <vector>

#include "gpu/collide/rigid_contact.h"
#include "gpu/model/model.h"

namespace stickslip {

/// An overlap that is no rounding or settling, but a share of the smaller body's size.
struct DeepOverlap {
  std::int32_t a, b;  // bodies; b = -1 - k: half-space k
  double depth;       // [m]
};

/// The deepest point of each such pair of bodies, deepest first.
std::vector<DeepOverlap> deep_overlaps(const Model& model, const std::vector<RigidContact>& contacts);

/// What to tell the user of them; empty when there is none.
std::string describe(const std::vector<DeepOverlap>& overlaps, const Model& model);

}  // namespace stickslip
