// launch_teams(ctx, n, f): runs f(t, team, scratch) for every t in [0, n), where a team of lanes shares a
// task.
#pragma once

#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The lanes of one team: a block of threads on CUDA, a single one on the CPU.
struct Team {
  /// Runs f(i) for every i in [0, n), on all lanes, and waits until all are done. Every lane must get here.
  template <class F>
  SS_HD void each([[maybe_unused]] int n, [[maybe_unused]] F f) const {
#if !STICKSLIP_ON_CUDA
    for (int i = 0; i < n; ++i) f(i);
#elif defined(__CUDA_ARCH__) || defined(STICKSLIP_EMULATED_DEVICE)
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) f(i);
    __syncthreads();
#endif  // nothing where nvcc compiles a kernel's functions for the host, which calls none of them
  }
};

#if STICKSLIP_ON_CUDA
namespace detail {
template <class Scratch, class F>
__global__ void __launch_bounds__(128) team_kernel(F f) {
  SS_SHARED(Scratch, scratch);
  f(static_cast<std::size_t>(blockIdx.x), Team{}, scratch);
}
}  // namespace detail
#endif

/// `Scratch`: a trivial type of at most 48 KiB that the team shares, uninitialised. The CPU takes `grain`
/// tasks at a time at least.
template <class Scratch, class F>
void launch_teams(Context& ctx, std::size_t n, F f, [[maybe_unused]] Grain grain = kHeavy) {
#if STICKSLIP_ON_CUDA
  static_assert(sizeof(Scratch) <= 48 * 1024);
  if (n == 0) return;
  ++ctx.counters().launches;
  SS_CUDA(start_kernel(ctx, &detail::team_kernel<Scratch, F>, n, 128, f));
#else
  launch(
      ctx, n,
      [=](std::size_t t) {
        Scratch scratch;
        f(t, Team{}, scratch);
      },
      grain);
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
