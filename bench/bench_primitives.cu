#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/cub_peer.h"
#include "bench/sort_peer.h"
#include "gpu/core/buffer.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kPrimitiveRuns = 7;

/// Our seconds and the peer's; 0 without a peer.
struct Compared {
  double ours = 0, peer = 0;
};

/// A well-mixed 64-bit word per index (the finaliser of SplitMix64): generates the input in the
/// memory where it is sorted.
SS_HD inline std::uint64_t mixed_word(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

template <class K>
void make_pairs(Context& ctx, std::size_t n, K* keys, std::int32_t* values) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    keys[i] = static_cast<K>(mixed_word(i));
    values[i] = static_cast<std::int32_t>(i);
  });
}

template <class K>
Compared sort_seconds(Context& ctx, std::size_t n) {
  Buffer<K> keys(ctx, n);
  Buffer<std::int32_t> values(ctx, n);
  const auto refill = [&] { make_pairs(ctx, n, keys.data(), values.data()); };
  Compared seconds{
      best_seconds(ctx, kPrimitiveRuns, refill, [&] { sort_pairs(ctx, n, keys.data(), values.data()); })};
#if STICKSLIP_ON_CUDA
  refill();
  seconds.peer = cub_sort_seconds(ctx, n, keys.data(), values.data(), kPrimitiveRuns);
#endif
  return seconds;
}

#if !STICKSLIP_ON_CUDA
/// Adds std::sort as the peer of the last figure.
void add_std_sort(int threads, std::size_t n, BenchResult& result) {
  if (!std_sort_present()) {
    result.notes.emplace_back("sort: no peer, std::sort(par) needs oneTBB");
    return;
  }
  std::vector<std::uint64_t> packed(n);
  for (std::size_t i = 0; i < n; ++i) packed[i] = mixed_word(i) << 32 | i;
  result.figures.back().peer = 1e-6 * static_cast<double>(n) / std_sort_seconds(packed, threads, 3);
  result.figures.back().peer_name = "std::sort(par), packed";
}
#endif

Compared reduce_seconds(Context& ctx, std::size_t n) {
  Buffer<double> values(ctx, n), sum(ctx, 1);
  fill(ctx, values.data(), n, 1.0);
  const double* v = values.data();
  Compared seconds{best_seconds(ctx, kPrimitiveRuns, [&] {
    reduce_sum(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { return v[i]; }, sum.data());
  })};
#if STICKSLIP_ON_CUDA
  seconds.peer = cub_reduce_seconds(ctx, n, v, kPrimitiveRuns);
#endif
  return seconds;
}

Compared scan_seconds(Context& ctx, std::size_t n) {
  Buffer<std::int32_t> in(ctx, n), out(ctx, n + 1);
  fill(ctx, in.data(), n, std::int32_t{1});
  Compared seconds{best_seconds(ctx, kPrimitiveRuns, [&] { exclusive_scan(ctx, n, in.data(), out.data()); })};
#if STICKSLIP_ON_CUDA
  seconds.peer = cub_scan_seconds(ctx, n, in.data(), kPrimitiveRuns);
#endif
  return seconds;
}

/// Half of the entries are selected.
Compared select_seconds(Context& ctx, std::size_t n) {
  Buffer<std::uint32_t> in(ctx, n);
  Buffer<std::int32_t> out(ctx, n), count(ctx, 1);
  std::uint32_t* v = in.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { v[i] = static_cast<std::uint32_t>(mixed_word(i)); });
  Compared seconds{best_seconds(ctx, kPrimitiveRuns, [&] {
    select_indices(
        ctx, n, [=] SS_LAMBDA(std::size_t i) { return v[i] % 2 == 0; }, out.data(), count.data());
  })};
#if STICKSLIP_ON_CUDA
  seconds.peer = cub_select_seconds(ctx, n, v, kPrimitiveRuns);
#endif
  return seconds;
}

/// Seconds of one reduction of 1000 entries, averaged over a row of calls.
double small_reduce_seconds(Context& ctx) {
  constexpr int calls = 1000;
  Buffer<double> values(ctx, 1000), sum(ctx, 1);
  fill(ctx, values.data(), 1000, 1.0);
  const double* v = values.data();
  const double seconds = best_seconds(ctx, kPrimitiveRuns, [&] {
    for (int c = 0; c < calls; ++c)
      reduce_sum(
          ctx, 1000, [=] SS_LAMBDA(std::size_t i) { return v[i]; }, sum.data());
  });
  return seconds / calls;
}

}  // namespace

double triad_bandwidth(Context& ctx, std::size_t n) {
  Buffer<double> target(ctx, n), left(ctx, n), right(ctx, n);
  double* a = target.data();
  double* b = left.data();
  double* c = right.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  });
  const double seconds = best_seconds(ctx, kPrimitiveRuns, [&] {
    launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { a[i] = b[i] + 0.5 * c[i]; });
  });
  return 3 * sizeof(double) * static_cast<double>(n) / seconds;
}

void add_primitive_figures(Context& ctx, std::size_t entries, double triad, BenchResult& result) {
  const auto n = static_cast<double>(entries);
  const std::string size = " " + counted(n);
  // `bytes`: least traffic per entry; `amount`: total of all entries in the unit.
  const auto add = [&](const std::string& name, const Compared& seconds, double bytes, double amount,
                       const char* unit) {
    BenchFigure figure{name, amount / seconds.ours, unit, amount / (bytes * n / triad), "triad bandwidth"};
    if (seconds.peer > 0) {
      figure.peer = amount / seconds.peer;
      figure.peer_name = "CUB called directly";
    }
    result.figures.push_back(figure);
  };
  add("reduce" + size + " f64", reduce_seconds(ctx, entries), 8, 8e-9 * n, "GB/s");
  // Counts one read and one write of each entry, although the CPU reads twice; for a selection one read of
  // each and one write of every second one.
  add("scan" + size + " i32", scan_seconds(ctx, entries), 8, 8e-9 * n, "GB/s");
  add("select" + size + " half", select_seconds(ctx, entries), 6, 6e-9 * n, "GB/s");
  // A pair read once and written once: a lower bound that no radix sort reaches.
  add("sort" + size + " u32 pairs", sort_seconds<std::uint32_t>(ctx, entries), 16, 1e-6 * n, "Mpairs/s");
#if !STICKSLIP_ON_CUDA
  add_std_sort(ctx.threads(), entries, result);
#endif
  add("sort" + size + " u64 pairs", sort_seconds<std::uint64_t>(ctx, entries), 24, 1e-6 * n, "Mpairs/s");
  result.figures.push_back({"reduce 1k f64, one call", 1e6 * small_reduce_seconds(ctx), "us"});
}

BenchResult bench_primitives(Context& ctx) {
  BenchResult result;
  const double triad = triad_bandwidth(ctx);
  result.figures.push_back({"triad 16M f64", 1e-9 * triad, "GB/s"});
  add_primitive_figures(ctx, 10'000'000, triad, result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND
