#include "gpu/bench/benches.cuh"
#include "gpu/bench/sort_peer.h"
#include "gpu/core/buffer.h"
#include "gpu/core/reduce.h"
#include "gpu/core/select.h"
#include "gpu/core/sort.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr std::size_t kEntries = 10'000'000;
constexpr int kRepetitions = 7;

/// A well-mixed 64-bit word per index (the finaliser of SplitMix64), so that input is made where it is
/// sorted.
SS_HD inline std::uint64_t mixed(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

template <class K>
void make_pairs(Context& ctx, K* keys, std::int32_t* values) {
  launch(ctx, kEntries, [=] SS_LAMBDA(std::size_t i) {
    keys[i] = static_cast<K>(mixed(i));
    values[i] = static_cast<std::int32_t>(i);
  });
}

/// Millions of pairs per second.
template <class K>
double sort_rate(Context& ctx) {
  Buffer<K> keys(ctx, kEntries);
  Buffer<std::int32_t> values(ctx, kEntries);
  const double seconds = best_seconds(
      ctx, kRepetitions, [&] { make_pairs(ctx, keys.data(), values.data()); },
      [&] { sort_pairs(ctx, kEntries, keys.data(), values.data()); });
  return 1e-6 * kEntries / seconds;
}

/// The peer of the last figure.
void add_std_sort(int threads, BenchResult& result) {
  if (!std_sort_present()) {
    result.notes.emplace_back("sort: no peer, std::sort(par) needs oneTBB");
    return;
  }
  std::vector<std::uint64_t> packed(kEntries);
  for (std::size_t i = 0; i < kEntries; ++i) packed[i] = mixed(i) << 32 | i;
  result.figures.back().peer = 1e-6 * kEntries / std_sort_seconds(packed, threads, 3);
  result.figures.back().peer_name = "std::sort(par), packed";
}

double reduce_bandwidth(Context& ctx) {
  Buffer<double> values(ctx, kEntries), sum(ctx, 1);
  fill(ctx, values.data(), kEntries, 1.0);
  const double* v = values.data();
  const double seconds = best_seconds(ctx, kRepetitions, [&] {
    reduce_sum(
        ctx, kEntries, [=] SS_LAMBDA(std::size_t i) { return v[i]; }, sum.data());
  });
  return 1e-9 * kEntries * sizeof(double) / seconds;
}

/// One read and one write of each entry are counted, although the CPU reads twice.
double scan_bandwidth(Context& ctx) {
  Buffer<std::int32_t> in(ctx, kEntries), out(ctx, kEntries + 1);
  fill(ctx, in.data(), kEntries, std::int32_t{1});
  const double seconds =
      best_seconds(ctx, kRepetitions, [&] { exclusive_scan(ctx, kEntries, in.data(), out.data()); });
  return 1e-9 * kEntries * 2 * sizeof(std::int32_t) / seconds;
}

/// Half of the entries pass: one read of each and one write of every second one are counted.
double select_bandwidth(Context& ctx) {
  Buffer<std::uint32_t> in(ctx, kEntries);
  Buffer<std::int32_t> out(ctx, kEntries), count(ctx, 1);
  std::uint32_t* v = in.data();
  launch(ctx, kEntries, [=] SS_LAMBDA(std::size_t i) { v[i] = static_cast<std::uint32_t>(mixed(i)); });
  const double seconds = best_seconds(ctx, kRepetitions, [&] {
    select_indices(
        ctx, kEntries, [=] SS_LAMBDA(std::size_t i) { return v[i] % 2 == 0; }, out.data(), count.data());
  });
  return 1e-9 * kEntries * 1.5 * sizeof(std::int32_t) / seconds;
}

/// Microseconds of one reduction of 1000 entries, averaged over a row of calls.
double small_reduce_cost(Context& ctx) {
  constexpr int calls = 1000;
  Buffer<double> values(ctx, 1000), sum(ctx, 1);
  fill(ctx, values.data(), 1000, 1.0);
  const double* v = values.data();
  const double seconds = best_seconds(ctx, kRepetitions, [&] {
    for (int c = 0; c < calls; ++c)
      reduce_sum(
          ctx, 1000, [=] SS_LAMBDA(std::size_t i) { return v[i]; }, sum.data());
  });
  return 1e6 * seconds / calls;
}

}  // namespace

double triad_bandwidth(Context& ctx) {
  constexpr std::size_t n = 16'000'000;
  Buffer<double> target(ctx, n), left(ctx, n), right(ctx, n);
  double* a = target.data();
  double* b = left.data();
  double* c = right.data();
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  });
  const double seconds = best_seconds(
      ctx, kRepetitions, [&] { launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { a[i] = b[i] + 0.5 * c[i]; }); });
  return 3 * sizeof(double) * static_cast<double>(n) / seconds;
}

BenchResult bench_primitives(Context& ctx) {
  const double triad = 1e-9 * triad_bandwidth(ctx);
  const char* const stream = "triad bandwidth";
  BenchResult result;
  auto add = [&](const char* name, double value, const char* unit, double floor, const char* floor_name) {
    result.figures.push_back({name, value, unit, floor, floor_name});
  };
  add("triad 16M f64", triad, "GB/s", 0, "");
  add("reduce 10M f64", reduce_bandwidth(ctx), "GB/s", triad, stream);
  add("scan 10M i32", scan_bandwidth(ctx), "GB/s", triad, stream);
  add("select 10M half", select_bandwidth(ctx), "GB/s", triad, stream);
  // A pair read once and written once: no sort on digits gets there, but every one is bounded by it.
  add("sort 10M u32 pairs", sort_rate<std::uint32_t>(ctx), "Mpairs/s", 1e3 * triad / 16, stream);
  if (!STICKSLIP_ON_CUDA) add_std_sort(ctx.threads(), result);
  add("sort 10M u64 pairs", sort_rate<std::uint64_t>(ctx), "Mpairs/s", 1e3 * triad / 24, stream);
  add("reduce 1k f64, one call", small_reduce_cost(ctx), "us", 0, "");
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND
