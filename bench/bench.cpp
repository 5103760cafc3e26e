#include "bench/bench.h"

#include <algorithm>
#include <stdexcept>

#include "bench/bench_backend.h"
#include "bench/memory_bench.h"
#include "bench/step_profile.h"

namespace stickslip {

std::vector<std::string> list_benches() {
  return {"device", "primitives", "lbvh", "queries", "spmv", "pcg", "assembly", "contacts", "memory", "pile"};
}

BenchResult run_bench(const std::string& name, Backend backend, int threads, bool full) {
  const std::vector<std::string> names = list_benches();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    throw std::invalid_argument("unknown bench '" + name + "': use one of " + known);
  }
  for (const BackendInfo& info : list_backends())
    if (info.backend == backend && !info.available)
      throw std::runtime_error("backend " + info.name + " is not available: " + info.reason);
  if (name == "pile") return bench_pile(backend, threads);
  if (name == "memory") return bench_memory(backend, threads, full);
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::run_bench(name, threads, full);
#endif
  return cpu::run_bench(name, threads, full);
}

BenchResult result_of(const std::string& bench, Backend backend, int threads) {
  for (const BackendInfo& info : list_backends())
    if (info.backend == backend) return {bench, info.name, info.device, threads, {}};
  throw std::invalid_argument("there is no such backend");
}

double measure_triad(Backend backend, int threads) {
#ifdef STICKSLIP_HAS_CUDA
  if (backend == Backend::cuda) return cuda::measure_triad(threads);
#endif
  if (backend != Backend::cpu) throw std::runtime_error("this build has no such backend");
  return cpu::measure_triad(threads);
}

}  // namespace stickslip
