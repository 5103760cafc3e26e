// The benches of one backend, and what they share. Each prints nothing: it returns its figures.
#pragma once

#include <algorithm>
#include <limits>

#include "gpu/bench/bench.h"
#include "gpu/core/timer.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Triad, reduce, scan, select and sort at 10M entries, and the cost of a call at 1000.
BenchResult bench_primitives(Context& ctx);

/// Building a tree over surfaces of 100k, 1M and 5M triangles and a soup of 1M, with the share of each stage,
/// box queries in it and, on the CPU, Embree's figures; the candidates of a 10k-triangle surface.
BenchResult bench_lbvh(Context& ctx);

/// The block-sparse product at 1M nodes against the triad bandwidth of the same run and, on the CPU, Eigen's
/// product; PCG iterations.
BenchResult bench_spmv(Context& ctx);

/// Iterations of contact solvers on granular columns of 10k and 100k contacts, `full`: 1M too, against the
/// triad bandwidth of the same run.
BenchResult bench_contacts(Context& ctx, bool full);
/// The figures of one column, W assembled and factored: sweeps of nsgs and prox_gs by colours, iterations of
/// prox_jacobi and spg, W x and a look of the judge, all in iterations/s, with the rate at which `triad`
/// [bytes/s] moves what they must; how the blocks are coloured. Each name begins with the number of contacts.
void add_contact_figures(Context& ctx, long contacts, double triad, BenchResult& result);

/// Bandwidth in bytes/s of a[i] = b[i] + s c[i] over arrays beyond the caches, counting three doubles an
/// entry: the floor of every kernel that streams memory. Best of several runs.
double triad_bandwidth(Context& ctx);

/// The shortest of `repetitions` runs of `work`, in seconds; prepare() runs before each, outside the time.
template <class Prepare, class Work>
double best_seconds(Context& ctx, int repetitions, Prepare prepare, Work work) {
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    prepare();
    ctx.synchronize();
    DeviceTimer timer(ctx);
    work();
    best = std::min(best, timer.seconds());
  }
  return best;
}

template <class Work>
double best_seconds(Context& ctx, int repetitions, Work work) {
  return best_seconds(
      ctx, repetitions, [] {}, work);
}

}  // namespace stickslip::STICKSLIP_BACKEND
