// Compound bodies and meshes in the narrow phase: the list of shape pairs, and the
// merging of their manifolds.
#pragma once

#include "gpu/collide/narrow_view.h"
#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Writes the shape pairs of each candidate with a compound body whose spheres are near; `stage` maps
/// candidates to their shape pairs. Sleeping pairs have none.
void list_shape_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);
/// Builds the contacts of these candidates from the manifolds of their shape pairs.
void merge_shape_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);

}  // namespace stickslip::STICKSLIP_BACKEND
