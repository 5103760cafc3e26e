// The peer of sort_pairs: what the standard library makes of the same data.
#pragma once

#include <cstdint>
#include <vector>

namespace stickslip {

/// Whether this build has the oneTBB that libstdc++ needs for it; without it the function below returns 0.
bool std_sort_present();

/// Seconds that std::sort(std::execution::par) takes for `packed` (key in the upper half, value in the lower)
/// on `threads` threads; the shortest of `repetitions`.
double std_sort_seconds(const std::vector<std::uint64_t>& packed, int threads, int repetitions);

}  // namespace stickslip
