#include "gpu/collide/searched_pairs.cuh"

#include "gpu/collide/collide_pairs.cuh"

namespace stickslip::STICKSLIP_BACKEND {

void collide_searched_pairs(Context& ctx, const NarrowInput& in, const NarrowOutput& out) {
  collide_pairs<PairClass::search>(ctx, in, out);
}

}  // namespace stickslip::STICKSLIP_BACKEND
