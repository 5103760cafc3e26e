// Helpers for the tests of the primitives: sizes, fresh random input, several thread counts.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "gpu/core/buffer.h"
#include "tests/fixtures/fresh_seed.h"

namespace stickslip {

inline constexpr std::size_t kSizes[] = {0, 1, 31, 1000, 1000003};

template <class T>
std::vector<T> random_integers(std::size_t n, T low, T high, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<T> draw(low, high);
  std::vector<T> values(n);
  for (T& v : values) v = draw(engine);
  return values;
}

inline std::vector<double> random_reals(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values(n);
  for (double& v : values) v = draw(engine);
  return values;
}

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Calls run(ctx) with exactly 1, 2, 3 and 8 threads, whatever the number of cores; on CUDA the same work
/// four times.
template <class Run>
void for_thread_counts(Run run) {
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Context ctx(threads);
    run(ctx);
  }
}

}  // namespace stickslip::STICKSLIP_BACKEND
