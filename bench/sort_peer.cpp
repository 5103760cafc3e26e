#include "bench/sort_peer.h"

#if STICKSLIP_HAS_TBB
#include <algorithm>
#include <execution>

#include "bench/benches.cuh"
#endif

namespace stickslip {

#if STICKSLIP_HAS_TBB

bool std_sort_present() { return true; }

double std_sort_seconds(const std::vector<std::uint64_t>& packed, int threads, int repetitions) {
  cpu::Context ctx(threads);
  std::vector<std::uint64_t> work;
  return cpu::best_seconds(
      ctx, repetitions, [&] { work = packed; },
      [&] {
        ctx.arena().run(1, 1, [&](std::size_t, std::size_t) {
          std::sort(std::execution::par, work.begin(), work.end());
        });
      });
}

#else

bool std_sort_present() { return false; }
double std_sort_seconds(const std::vector<std::uint64_t>&, int, int) { return 0; }

#endif

}  // namespace stickslip
