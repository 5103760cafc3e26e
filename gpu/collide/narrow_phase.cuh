// The narrow phase: contacts of candidate pairs, matched with those of the last step.
#pragma once

#include "gpu/collide/narrow_view.h"
#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Kinds of shapes in a model besides single shapes with a closed formula.
struct NarrowKinds {
  bool many_parts, search, meshes;
};
void find_manifolds(Context& ctx, const NarrowInput& in, const NarrowOutput& out, const NarrowKinds& kinds);

}  // namespace stickslip::STICKSLIP_BACKEND
