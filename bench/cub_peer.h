// The peer of reduce, scan, select and sort on CUDA: CUB called directly on the same data.
#pragma once

#include <cstdint>

#include "gpu/core/context.h"

#if STICKSLIP_ON_CUDA

namespace stickslip::cuda {

/// Seconds of one call, the shortest of `repetitions`. Allocation of temporary memory and outputs is not
/// timed; all pointers are device memory with n entries, and no input is overwritten.
double cub_reduce_seconds(Context& ctx, std::size_t n, const double* in, int repetitions);
double cub_scan_seconds(Context& ctx, std::size_t n, const std::int32_t* in, int repetitions);
/// Selects the indices of even entries.
double cub_select_seconds(Context& ctx, std::size_t n, const std::uint32_t* in, int repetitions);
/// From one pair of arrays to another. K: uint32 or uint64.
template <class K>
double cub_sort_seconds(Context& ctx, std::size_t n, const K* keys, const std::int32_t* values,
                        int repetitions);

extern template double cub_sort_seconds(Context&, std::size_t, const std::uint32_t*, const std::int32_t*,
                                        int);
extern template double cub_sort_seconds(Context&, std::size_t, const std::uint64_t*, const std::int32_t*,
                                        int);

}  // namespace stickslip::cuda

#endif
