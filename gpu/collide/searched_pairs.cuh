// Pair tests with long run and compile times, in files of their own.
#pragma once

#include "gpu/collide/narrow_view.h"
#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// For PairClass::search.
void collide_searched_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);
/// For PairClass::mesh.
void collide_mesh_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out);

}  // namespace stickslip::STICKSLIP_BACKEND
