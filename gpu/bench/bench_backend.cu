#include "gpu/bench/bench_backend.h"

#include <stdexcept>

#include "gpu/bench/benches.cuh"
#include "gpu/core/device.h"

namespace stickslip::STICKSLIP_BACKEND {

namespace {

BenchResult dispatch(const std::string& name, Context& ctx) {
  if (name == "primitives") return bench_primitives(ctx);
  if (name == "lbvh") return bench_lbvh(ctx);
  if (name == "spmv") return bench_spmv(ctx);
  throw std::invalid_argument("unknown bench '" + name + "'");
}

}  // namespace

BenchResult run_bench(const std::string& name, int threads) {
  Context ctx(threads);
  BenchResult result = dispatch(name, ctx);
  result.bench = name;
  result.backend = STICKSLIP_ON_CUDA ? "cuda" : "cpu";
  result.device = query_device().device;
  result.threads = ctx.threads();
  return result;
}

}  // namespace stickslip::STICKSLIP_BACKEND
