// Pair tests that take long to run and to compile, in files of their own.
#pragma once

#include "gpu/collide/narrow_view.h"
#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Of PairClass::search.
void collide_searched_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);
/// Of PairClass::mesh.
void collide_mesh_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);

}  // namespace stickslip::STICKSLIP_BACKEND
