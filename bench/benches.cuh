// The benches of one backend, and shared functions. None prints: each returns its figures.
#pragma once

#include <algorithm>
#include <limits>

#include "bench/bench.h"
#include "gpu/core/timer.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Bandwidths of memory and to the host, the cost of launches, waits, loop repetitions and grid barriers: the
/// basis of other benches' floors.
BenchResult bench_device(Context& ctx);
/// The same for arrays of `entries` doubles, with `calls` in a row.
void add_device_figures(Context& ctx, std::size_t entries, int calls, BenchResult& result);
/// Bytes/s read and written by a kernel that copies n doubles.
double copy_bandwidth(Context& ctx, std::size_t n);
/// Seconds of a barrier of launch_grid, and of a sum over the grid, on at most `lanes` lanes. Public because
/// nvcc requires a name for every function with a device lambda.
double grid_phase_seconds(Context& ctx, std::size_t lanes, int phases);
double grid_sum_seconds(Context& ctx, std::size_t lanes, int sums);

/// Triad, reduce, scan, select and sort at 10M entries, and the cost of a call at 1000;
/// on CUDA compared with CUB.
BenchResult bench_primitives(Context& ctx);
void add_primitive_figures(Context& ctx, std::size_t entries, double triad, BenchResult& result);

/// Building a tree over surfaces of 100k, 1M and 5M triangles and a soup of 1M, with the share of each stage,
/// box queries in it and, on the CPU, Embree's figures; the candidates of a 10k-triangle surface.
BenchResult bench_lbvh(Context& ctx);
/// For one mesh of about `triangles` triangles.
void add_tree_figures(Context& ctx, int triangles, bool at_random, double triad, BenchResult& result);

/// Proximity and continuous queries on a packed scene of 1M triangles: searches, contacts, step bound, and
/// the share of relevant pairs.
BenchResult bench_queries(Context& ctx);
/// For packed_boxes(side, cells).
void add_query_figures(Context& ctx, int side, int cells, double triad, BenchResult& result);

/// The block-sparse product at 1M nodes against the triad bandwidth of the same run, without and with
/// contacts, and, on the CPU, Eigen's product.
BenchResult bench_spmv(Context& ctx);
/// For side^3 nodes, with a tenth as many contacts.
void add_product_figures(Context& ctx, std::int32_t side, double triad, BenchResult& result);

/// An iteration of PCG at 10.6k to 1M nodes against its least traffic. On CUDA, small ones also in one
/// resident kernel and in a loop of the device, to find the size at which the resident kernel no longer pays.
BenchResult bench_pcg(Context& ctx);
void add_pcg_figures(Context& ctx, std::int32_t side, int iterations, double triad, BenchResult& result);

/// Gradient and projected Hessian of 1M tets against their least traffic.
BenchResult bench_assembly(Context& ctx);
/// For the lattice of side^3 nodes.
void add_assembly_figures(Context& ctx, std::int32_t side, double triad, BenchResult& result);

/// Iterations of contact solvers on granular columns of 10k and 100k contacts, `full`: 1M too, against the
/// triad bandwidth of the same run.
BenchResult bench_contacts(Context& ctx, bool full);
/// The figures of one column, W assembled and factored: sweeps of nsgs and prox_gs by colours, iterations of
/// prox_jacobi and spg, W x and a check by the judge, all in iterations/s, with the rate at which `triad`
/// [bytes/s] moves their bytes; sizes of the colours. Each name begins with the number of contacts.
void add_contact_figures(Context& ctx, long contacts, double triad, BenchResult& result);

/// Bandwidth in bytes/s of a[i] = b[i] + s c[i] over arrays of n doubles, by default larger than the caches,
/// counting three doubles an entry: the floor of every memory-bound kernel. Best of several runs.
double triad_bandwidth(Context& ctx, std::size_t n = 16'000'000);

/// The shortest of `repetitions` runs of `work`, in seconds; prepare() runs before each and is not timed.
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
