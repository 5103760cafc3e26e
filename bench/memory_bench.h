// `bench memory`: what a scene takes of the backend's memory, and whether the largest one of Guo24 fits.
#pragma once

#include "bench/bench.h"

namespace stickslip {

/// Bytes a tet, node and contact from three piles of cubes and, with `full`, a step of 9 million tets with
/// 300k contacts in no more than 8 GB.
BenchResult bench_memory(Backend backend, int threads, bool full);

/// The slopes, from piles of `columns` and twice as many; what they say of 9 million tets.
void add_memory_slopes(Backend backend, int threads, int columns, BenchResult& result);

/// Builds a pile of about so many tets and contacts and steps it once, with all of the backend's memory held
/// to `limit` bytes: its peak, how much a tet, and the time. Without room, a note says so. The limit is
/// lifted in the end.
void add_built_scene(Backend backend, int threads, double tets, double contacts, double limit,
                     BenchResult& result);

}  // namespace stickslip
