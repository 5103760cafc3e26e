// launch(ctx, n, f): runs f(i) for every i in [0, n), in any order and in parallel.
#pragma once

#include <source_location>

#include "gpu/core/context.h"

#if !STICKSLIP_ON_CUDA
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {

/// How many indices one CPU task takes at least; a kernel that does more work per index asks for fewer.
struct Grain {
  std::size_t size = 2048;
};
inline constexpr Grain kHeavy{16};
inline constexpr Grain kMedium{256};
inline constexpr Grain kLight{
    16384};  // a few memory accesses per index: waking a thread costs as much as 10k of them

#if STICKSLIP_ON_CUDA

namespace detail {
template <class F>
__global__ void __launch_bounds__(256) launch_kernel(std::size_t n, F f) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) f(i);
}
}  // namespace detail

/// A failed launch throws std::runtime_error naming the place of the call.
template <class F>
void launch(Context& ctx, std::size_t n, F f, Grain = {},
            std::source_location where = std::source_location::current()) {
  if (n == 0) return;
  ++ctx.counters().launches;
  constexpr unsigned block = 256;
  detail::launch_kernel<<<static_cast<unsigned>((n + block - 1) / block), block, 0, ctx.stream()>>>(n, f);
  check(cudaGetLastError(), "launch", where.file_name(), static_cast<int>(where.line()));
}

#else

template <class F>
void launch(Context& ctx, std::size_t n, F f, Grain grain = {}) {
  if (n == 0) return;
  ++ctx.counters().launches;
  if (n <= grain.size || ctx.threads() == 1) {
    for (std::size_t i = 0; i < n; ++i) f(i);
    return;
  }
  ctx.arena().execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, grain.size), [&](const auto& range) {
      const F local = f;  // its captures then live in registers, not behind a reference
      for (std::size_t i = range.begin(); i < range.end(); ++i) local(i);
    });
  });
}

#endif

template <class T>
void fill(Context& ctx, T* target, std::size_t n, T value) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { target[i] = value; });
}

}  // namespace stickslip::STICKSLIP_BACKEND
