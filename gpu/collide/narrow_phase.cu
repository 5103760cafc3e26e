#include "gpu/collide/narrow_phase.cuh"

#include "gpu/collide/collide_pairs.cuh"
#include "gpu/collide/compounds.cuh"
#include "gpu/collide/searched_pairs.cuh"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {

void find_manifolds(Context& ctx, const NarrowInput& in, const NarrowOutput& out, const NarrowKinds& kinds) {
  const Span span(ctx, "narrow phase");
  if (kinds.many_parts) list_shape_pairs(ctx, in, out);
  collide_pairs<PairClass::formula>(ctx, in, out);
  if (kinds.search) collide_searched_pairs(ctx, in, out);
  if (kinds.meshes) collide_mesh_pairs(ctx, in, out);
  if (kinds.many_parts) merge_shape_pairs(ctx, in, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
