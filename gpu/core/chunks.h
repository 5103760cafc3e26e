// for_chunks: the CPU's way to run a primitive over fixed pieces of [0, n), whatever the number of threads.
#pragma once

#include <algorithm>

#include "gpu/core/launch.h"

#if !STICKSLIP_ON_CUDA

namespace stickslip::cpu::detail {

inline std::size_t chunk_count(std::size_t n, std::size_t chunk) { return (n + chunk - 1) / chunk; }

/// Runs f(c, begin, end) for each chunk c = [c * chunk, min(n, (c + 1) * chunk)). The pieces depend on `n`
/// and `chunk` alone, so partial results combined in their order do not depend on the number of threads.
template <class F>
void for_chunks(Context& ctx, std::size_t n, std::size_t chunk, F f) {
  launch(
      ctx, chunk_count(n, chunk), [=](std::size_t c) { f(c, c * chunk, std::min(n, (c + 1) * chunk)); },
      Grain{1});
}

}  // namespace stickslip::cpu::detail

#endif
