// Boxes of all primitives of one kind.
#pragma once

#include "gpu/broadphase/primitive_pairs.h"
#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

/// boxes[i] = swept_box(primitives[i], ...) for n primitives of N nodes, grown by their radii too.
template <int N>
void compute_boxes(Context& ctx, const Vec<std::int32_t, N>* primitives, std::size_t n, const Vec3* x,
                   const Vec3* p, Real reach, const Real* radius, Buffer<FloatBox>& boxes) {
  boxes.resize(ctx, n);
  FloatBox* out = boxes.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    out[i] = swept_box(primitives[i], x, p, reach + radius_of(primitives[i], radius));
  });
}

}  // namespace stickslip::STICKSLIP_BACKEND
