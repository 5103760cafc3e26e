// `bench memory`: backend memory of a scene, and whether the largest one of Guo24 fits.
#pragma once

#include "bench/bench.h"

namespace stickslip {

/// Bytes a tet, node and contact from three piles of cubes; with `full`, also a step of 9 million tets with
/// 300k contacts within 8 GB.
BenchResult bench_memory(Backend backend, int threads, bool full);

/// The slopes, from piles of `columns` and twice as many, and their prediction for 9 million tets.
void add_memory_slopes(Backend backend, int threads, int columns, BenchResult& result);

/// Builds a pile of about this many tets and contacts and steps it once, with the backend's memory
/// limited to `limit` bytes: peak memory, peak per tet, and time. A note reports insufficient memory.
/// Removes the limit at the end.
void add_built_scene(Backend backend, int threads, double tets, double contacts, double limit,
                     BenchResult& result);

}  // namespace stickslip
