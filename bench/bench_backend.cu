#include "bench/bench_backend.h"

#include <stdexcept>

#include "bench/benches.cuh"
#include "gpu/core/device.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

BenchResult dispatch(const std::string& name, Context& ctx, bool full) {
  if (name == "device") return bench_device(ctx);
  if (name == "primitives") return bench_primitives(ctx);
  if (name == "lbvh") return bench_lbvh(ctx);
  if (name == "queries") return bench_queries(ctx);
  if (name == "spmv") return bench_spmv(ctx);
  if (name == "pcg") return bench_pcg(ctx);
  if (name == "assembly") return bench_assembly(ctx);
  if (name == "contacts") return bench_contacts(ctx, full);
  throw std::invalid_argument("unknown bench '" + name + "'");
}

}  // namespace

BenchResult run_bench(const std::string& name, int threads, bool full) {
  Context ctx(threads);
  BenchResult result = dispatch(name, ctx, full);
  result.bench = name;
  result.backend = STICKSLIP_ON_CUDA ? "cuda" : "cpu";
  result.device = query_device().device;
  result.threads = ctx.threads();
  return result;
}

double measure_triad(int threads) {
  Context ctx(threads);
  return triad_bandwidth(ctx);
}

}  // namespace stickslip::STICKSLIP_BACKEND
