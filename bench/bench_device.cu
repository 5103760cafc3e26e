// Properties of the machine: bandwidths, and the costs of a launch, a wait, a repetition and a barrier.
#include "bench/benches.cuh"
#include "bench/counted.h"
#include "gpu/core/buffer.h"
#include "gpu/core/device.h"
#include "gpu/core/device_loop.h"
#include "gpu/core/grid.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kDeviceRuns = 7;

/// Two arrays of n doubles, already resident in memory.
struct CopyPair {
  CopyPair(Context& ctx, std::size_t n) : from(ctx, n), to(ctx, n) {
    fill(ctx, from.data(), n, 1.0);
    fill(ctx, to.data(), n, 2.0);
  }
  /// Bytes that a copy reads and writes.
  double bytes() const { return 2.0 * sizeof(double) * static_cast<double>(from.size()); }
  Buffer<double> from, to;
};

/// Bandwidth of `copy`: by the runtime on a device, by one thread on a processor.
double plain_copy_bandwidth(Context& ctx, CopyPair& arrays) {
  const double seconds = best_seconds(
      ctx, kDeviceRuns, [&] { copy(ctx, arrays.to.data(), arrays.from.data(), arrays.from.size()); });
  return arrays.bytes() / seconds;
}

double upload_bandwidth(Context& ctx, CopyPair& arrays, const std::vector<double>& host) {
  const double seconds = best_seconds(
      ctx, kDeviceRuns, [&] { copy_to_device(ctx, arrays.to.data(), host.data(), host.size()); });
  return sizeof(double) * static_cast<double>(host.size()) / seconds;
}

double download_bandwidth(Context& ctx, CopyPair& arrays, std::vector<double>& host) {
  const double seconds = best_seconds(
      ctx, kDeviceRuns, [&] { copy_to_host(ctx, host.data(), arrays.from.data(), host.size()); });
  return sizeof(double) * static_cast<double>(host.size()) / seconds;
}

/// Seconds per call, for `calls` in a row.
template <class Call>
double seconds_a_call(Context& ctx, int calls, Call call) {
  return best_seconds(ctx, kDeviceRuns,
                      [&] {
                        for (int c = 0; c < calls; ++c) call();
                      }) /
         calls;
}

void launch_nothing(Context& ctx) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {});
}

/// Sets *stop when the body has run `repetitions` times; the counter is stored after `stop`.
void count_repetition(Context& ctx, std::int32_t* stop, std::int32_t repetitions) {
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) {
    if (stop[0] != 0) return;
    if (++stop[1] == repetitions) stop[0] = 1;
  });
}

/// Seconds of a loop that the device repeats by itself, including its recording.
double loop_seconds(Context& ctx, int repetitions, int launches) {
  Buffer<std::int32_t> stop(ctx, 2);
  LoopGraph graph;
  return best_seconds(
      ctx, kDeviceRuns, [&] { fill(ctx, stop.data(), 2, std::int32_t{0}); },
      [&] {
        repeat_until(ctx, graph, stop.data(), [&] {
          for (int l = 1; l < launches; ++l) launch_nothing(ctx);
          count_repetition(ctx, stop.data(), repetitions);
        });
      });
}

}  // namespace

double copy_bandwidth(Context& ctx, std::size_t n) {
  CopyPair arrays(ctx, n);
  const double* from = arrays.from.data();
  double* to = arrays.to.data();
  const double seconds = best_seconds(
      ctx, kDeviceRuns, [&] { launch(ctx, n, [=] SS_LAMBDA(std::size_t i) { to[i] = from[i]; }); });
  return arrays.bytes() / seconds;
}

double grid_phase_seconds(Context& ctx, std::size_t lanes, int phases) {
  Buffer<std::int32_t> counter(ctx, 1);
  fill(ctx, counter.data(), 1, std::int32_t{0});
  std::int32_t* count = counter.data();
  return best_seconds(ctx, kDeviceRuns,
                      [&] {
                        launch_grid(ctx, lanes, [=] SS_LAMBDA(const Grid& grid) {
                          for (int k = 0; k < phases; ++k) grid.each(1, [=](std::size_t) { ++*count; });
                        });
                      }) /
         phases;
}

double grid_sum_seconds(Context& ctx, std::size_t lanes, int sums) {
  Buffer<double> result(ctx, 1);
  double* out = result.data();
  return best_seconds(ctx, kDeviceRuns,
                      [&] {
                        launch_grid(ctx, lanes, [=] SS_LAMBDA(const Grid& grid) {
                          double total = 0;
                          for (int k = 0; k < sums; ++k)
                            total += grid.sum<double>(1, [=](std::size_t) { return total; });
                          if (grid.is_first()) *out = total;
                        });
                      }) /
         sums;
}

void add_device_figures(Context& ctx, std::size_t entries, int calls, BenchResult& result) {
  const double sheet = 1e-9 * query_device().bandwidth;
  const std::string of = " " + counted(static_cast<double>(entries)) + " f64";
  const auto add = [&](const std::string& name, double value, const char* unit) {
    result.figures.push_back({name, value, unit});
  };
  const auto add_bandwidth = [&](const std::string& name, double value) {
    result.figures.push_back({name, 1e-9 * value, "GB/s", sheet, sheet > 0 ? "the device's data sheet" : ""});
  };
  add_bandwidth("triad" + of, triad_bandwidth(ctx, entries));
  add_bandwidth("copy" + of, copy_bandwidth(ctx, entries));
  {
    CopyPair arrays(ctx, entries);
    std::vector<double> host(entries, 3.0);
    add_bandwidth("copy" + of + ", by the runtime", plain_copy_bandwidth(ctx, arrays));
    add("host to device" + of, 1e-9 * upload_bandwidth(ctx, arrays, host), "GB/s");
    add("device to host" + of, 1e-9 * download_bandwidth(ctx, arrays, host), "GB/s");
  }
  Buffer<std::int32_t> word(ctx, 1);
  fill(ctx, word.data(), 1, std::int32_t{0});
  std::int32_t read = 0;
  const auto add_cost = [&](const char* name, double seconds) { add(name, 1e6 * seconds, "us"); };
  add_cost("launch, back to back", seconds_a_call(ctx, calls, [&] { launch_nothing(ctx); }));
  add_cost("launch and wait", seconds_a_call(ctx, calls, [&] {
             launch_nothing(ctx);
             ctx.synchronize();
           }));
  add_cost("read back of one word", seconds_a_call(ctx, calls, [&] { read += read_back(ctx, word.data()); }));
  add_cost("loop of one repetition", loop_seconds(ctx, 1, 1));
  add_cost("repetition of a loop, 1 launch", loop_seconds(ctx, calls, 1) / calls);
  add_cost("repetition of a loop, 4 launches", loop_seconds(ctx, calls, 4) / calls);
  add_cost("grid barrier, one block", grid_phase_seconds(ctx, 1, calls));
  add_cost("grid barrier, all lanes", grid_phase_seconds(ctx, std::size_t{1} << 24, calls));
  add_cost("grid sum, all lanes", grid_sum_seconds(ctx, std::size_t{1} << 24, calls));
  if (read != 0) result.notes.emplace_back("device: a word was read that nobody wrote");
}

BenchResult bench_device(Context& ctx) {
  BenchResult result;
  add_device_figures(ctx, 16'000'000, 2000, result);
  if (!STICKSLIP_ON_CUDA)
    result.notes.emplace_back(
        "device: on the cpu, copies to and from the host are copies in memory, and a grid has one lane");
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND
