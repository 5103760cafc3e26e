#include <string>

#include "bench/benches.cuh"
#include "bench/counted.h"
#include "bench/laplacian.cuh"
#include "gpu/linear/pcg.cuh"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

constexpr int kSolveRuns = 15;

/// Bytes of an iteration: one product; x, r, p read and written, z written and read, q and
/// the preconditioner read.
double iteration_bytes(const SplitMatrix& matrix) {
  return product_bytes(matrix) +
         static_cast<double>(matrix.node_count()) * (9 * sizeof(Vec3) + sizeof(Symmetric3));
}

}  // namespace

void add_pcg_figures(Context& ctx, std::int32_t side, int iterations, double triad, BenchResult& result) {
  SplitMatrix matrix;
  set_laplacian(ctx, side, matrix);
  LaplacianVectors vectors(ctx, matrix.node_count());
  const auto add = [&](const char* how, const PcgSettings& settings) {
    Pcg pcg;
    int done = 0;
    const double seconds = best_seconds(ctx, kSolveRuns, [&] {
      done = pcg.solve(ctx, matrix, vectors.b.data(), vectors.x.data(), settings).iterations;
    });
    result.figures.push_back(
        {"pcg iteration " + counted(static_cast<double>(matrix.node_count())) + " nodes" + how,
         1e6 * seconds / std::max(done, 1), "us", 1e6 * iteration_bytes(matrix) / triad,
         "bytes moved at triad bandwidth"});
  };
  PcgSettings settings;
  settings.tolerance = 0;
  settings.max_iterations = iterations;
  add("", settings);
  constexpr std::size_t most_compared = 2'000'000;
  if (!STICKSLIP_ON_CUDA || matrix.node_count() > most_compared) return;
  settings.most_resident_nodes = most_compared;
  add(", in one kernel", settings);
  settings.most_resident_nodes = 0;
  add(", in a loop of the device", settings);
}

BenchResult bench_pcg(Context& ctx) {
  BenchResult result;
  const double triad = triad_bandwidth(ctx);
  // The cost of starting a solve is divided among its iterations.
  for (const std::int32_t side : {22, 34, 47, 67}) add_pcg_figures(ctx, side, 200, triad, result);
  add_pcg_figures(ctx, 100, 20, triad, result);
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND
