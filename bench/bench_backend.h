// The functions that bench.cpp calls on each backend; both are compiled from bench_backend.cu.
#pragma once

#include "bench/bench.h"

namespace stickslip {
/// An empty result, for a bench that steps an engine.
BenchResult result_of(const std::string& bench, Backend backend, int threads);
}  // namespace stickslip

namespace stickslip::cpu {
BenchResult run_bench(const std::string& name, int threads, bool full);
double measure_triad(int threads);
void limit_memory(std::size_t bytes);  // of gpu/core/context.h
}  // namespace stickslip::cpu

namespace stickslip::cuda {
BenchResult run_bench(const std::string& name, int threads, bool full);
double measure_triad(int threads);
void limit_memory(std::size_t bytes);  // of gpu/core/context.h
}  // namespace stickslip::cuda
