// The peer of sort_pairs: the standard library's sort of the same data.
#pragma once

#include <cstdint>
#include <vector>

namespace stickslip {

/// True if this build has oneTBB, which libstdc++ requires; without it the function below returns 0.
bool std_sort_present();

/// Seconds of std::sort(std::execution::par) for `packed` (key in the upper half, value in the lower) on
/// `threads` threads; the shortest of `repetitions`.
double std_sort_seconds(const std::vector<std::uint64_t>& packed, int threads, int repetitions);

}  // namespace stickslip
