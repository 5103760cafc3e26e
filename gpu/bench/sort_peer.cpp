#include "gpu/bench/sort_peer.h"

#include <algorithm>
#include <execution>

#include "gpu/bench/benches.cuh"

namespace stickslip {

double std_sort_seconds(const std::vector<std::uint64_t>& packed, int threads, int repetitions) {
  cpu::Context ctx(threads);
  std::vector<std::uint64_t> work;
  return cpu::best_seconds(
      ctx, repetitions, [&] { work = packed; },
      [&] { ctx.arena().execute([&] { std::sort(std::execution::par, work.begin(), work.end()); }); });
}

}  // namespace stickslip
