// The narrow phase: contacts of candidate pairs, and which contact of the step before each of them is.
#pragma once

#include "gpu/collide/narrow_view.h"
#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// What a model has beside single shapes that formulas know.
struct NarrowKinds {
  bool many_parts, search, meshes;
};
void find_manifolds(Context& ctx, const NarrowInput& in, const NarrowOutput& out, const NarrowKinds& kinds);

}  // namespace stickslip::STICKSLIP_BACKEND
