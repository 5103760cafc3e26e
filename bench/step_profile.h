// A profile of whole steps, on a generated model.
#pragma once

#include "bench/bench.h"

namespace stickslip {

/// The profile of a pile of 64 soft cubes (8000 nodes) that drop onto each other and the ground.
BenchResult bench_pile(Backend backend, int threads);

}  // namespace stickslip
