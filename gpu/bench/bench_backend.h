// What bench.cpp needs of each backend; both are compiled from bench_backend.cu.
#pragma once

#include "gpu/bench/bench.h"

namespace stickslip::cpu {
BenchResult run_bench(const std::string& name, int threads, bool full);
double measure_triad(int threads);
}  // namespace stickslip::cpu

namespace stickslip::cuda {
BenchResult run_bench(const std::string& name, int threads, bool full);
double measure_triad(int threads);
}  // namespace stickslip::cuda
