// Compound bodies and meshes in the narrow phase: which shapes to look at, and what the manifolds add up to.
#pragma once

#include "gpu/collide/narrow_view.h"
#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Writes the shape pairs of each candidate with a compound body whose spheres come near; stage says which
/// are whose. Pairs that sleep have none.
void list_shape_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);
/// Contacts of these candidates from the manifolds of their shape pairs.
void merge_shape_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);

}  // namespace stickslip::STICKSLIP_BACKEND
