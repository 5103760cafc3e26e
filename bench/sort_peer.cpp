#include "bench/sort_peer.h"

#if defined(STICKSLIP_HAS_TBB)
#include <tbb/task_arena.h>

#include <algorithm>
#include <execution>

#include "bench/benches.cuh"
#endif

namespace stickslip {

#if defined(STICKSLIP_HAS_TBB)

bool std_sort_present() { return true; }

double std_sort_seconds(const std::vector<std::uint64_t>& packed, int threads, int repetitions) {
  cpu::Context ctx(threads);
  tbb::task_arena arena(threads);
  std::vector<std::uint64_t> work;
  return cpu::best_seconds(
      ctx, repetitions, [&] { work = packed; },
      [&] { arena.execute([&] { std::sort(std::execution::par, work.begin(), work.end()); }); });
}

#else

bool std_sort_present() { return false; }
double std_sort_seconds(const std::vector<std::uint64_t>&, int, int) { return 0; }

#endif

}  // namespace stickslip
