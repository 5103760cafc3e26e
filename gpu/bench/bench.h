// Micro-benchmarks of the library's kernels: host-only face, so that the program can run them on each
// backend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/engine.h"

namespace stickslip {

/// One measured figure with the floor it is compared to.
struct BenchFigure {
  std::string name;  // e.g. "sort u32 10M"
  double value = 0;
  std::string unit;  // e.g. "Mpairs/s"
  double floor = 0;  // best possible, or the peer's figure, in the same unit; 0: none
  std::string floor_name;
};

struct BenchResult {
  std::string bench, backend, device;
  int threads = 0;
  std::vector<BenchFigure> figures;
};

/// "primitives", "lbvh", "spmv". Throws std::invalid_argument for an unknown name.
BenchResult run_bench(const std::string& name, Backend backend, int threads);
std::vector<std::string> list_benches();

}  // namespace stickslip
