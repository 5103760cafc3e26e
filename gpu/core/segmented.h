// segmented_sum: one sum per segment, the write-free way to gather element contributions at nodes.
#pragma once

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

/// out[s] = f(offsets[s]) + ... + f(offsets[s+1] - 1) for s in [0, segments), added in this order on every
/// backend; zero for an empty segment. `offsets` has segments + 1 entries. Short segments (tens of entries)
/// are assumed.
template <class T, class F>
void segmented_sum(Context& ctx, std::size_t segments, const std::int32_t* offsets, F f, T* out,
                   Grain grain = kMedium) {
  launch(
      ctx, segments,
      [=] SS_LAMBDA(std::size_t s) {
        T sum{};
        const std::int32_t end = offsets[s + 1];
        for (std::int32_t k = offsets[s]; k < end; ++k) sum += f(k);
        out[s] = sum;
      },
      grain);
}

}  // namespace stickslip::STICKSLIP_BACKEND
