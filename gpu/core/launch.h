// launch(ctx, n, f): runs f(i) for every i in [0, n), in any order and in parallel.
#pragma once

#include <source_location>

#include "gpu/core/context.h"

#if STICKSLIP_ON_CUDA
#include "gpu/core/kernel_start.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

/// Least number of indices of one CPU task; a kernel with more work per index sets fewer.
struct Grain {
  std::size_t size = 512;
};
inline constexpr Grain kHeavy{16};
inline constexpr Grain kMedium{256};
inline constexpr Grain kLight{4096};  // a few memory accesses per index

#if STICKSLIP_ON_CUDA

namespace detail {
template <class F>
__global__ void __launch_bounds__(256) launch_kernel(std::size_t n, F f) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) f(i);
}

template <class F>
struct BelowCount {
  F f;
  const std::int32_t* count;
  __device__ void operator()(std::size_t i) const {
    if (i < static_cast<std::size_t>(*count)) f(i);
  }
};
}  // namespace detail

/// A failed launch throws std::runtime_error naming the place of the call.
template <class F>
void launch(Context& ctx, std::size_t n, F f, Grain = {},
            std::source_location where = std::source_location::current()) {
  if (n == 0) return;
  ++ctx.counters().launches;
  constexpr unsigned block = 256;
  check(start_kernel(ctx, &detail::launch_kernel<F>, (n + block - 1) / block, block, n, f), "launch",
        where.file_name(), static_cast<int>(where.line()));
}

#else

namespace detail {
/// One machine code for the serial and the parallel path. Inlined into both, the same source may get
/// different fused multiply-adds, and a result would then depend on the number of threads.
template <class F>
[[gnu::noipa]] void run_range(const F& f, std::size_t begin, std::size_t end) {
  const F local = f;  // its captures then live in registers, not behind a reference
  for (std::size_t i = begin; i < end; ++i) local(i);
}
}  // namespace detail

template <class F>
void launch(Context& ctx, std::size_t n, F f, Grain grain = {}) {
  if (n == 0) return;
  ++ctx.counters().launches;
  if (n <= grain.size || ctx.threads() == 1) {
    detail::run_range(f, 0, n);
    return;
  }
  ctx.arena().run(n, grain.size,
                  [&](std::size_t begin, std::size_t end) { detail::run_range(f, begin, end); });
}

#endif

/// f(i) for every i in [0, *count), a number at most `most` that only the backend needs to know: the host
/// does not wait for it, and CUDA starts `most` lanes.
template <class F>
void launch_counted(Context& ctx, std::size_t most, const std::int32_t* count, F f, Grain grain = {}) {
#if STICKSLIP_ON_CUDA
  launch(ctx, most, detail::BelowCount<F>{f, count}, grain);
#else
  if (most > 0) launch(ctx, static_cast<std::size_t>(*count), f, grain);
#endif
}

template <class T>
void fill(Context& ctx, T* target, std::size_t n, T value) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { target[i] = value; });
}

}  // namespace stickslip::STICKSLIP_BACKEND
