// exclusive_scan: prefix sums of integers.
#pragma once

#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// out[i] = in[0] + ... + in[i-1] for i = 0..n, so `out` has n + 1 entries and out[n] is the total. `in` has
/// n entries; in == out is allowed, other overlap is not. T: int32, uint32, int64, uint64. Asynchronous.
template <class T>
void exclusive_scan(Context& ctx, std::size_t n, const T* in, T* out);

extern template void exclusive_scan(Context&, std::size_t, const std::int32_t*, std::int32_t*);
extern template void exclusive_scan(Context&, std::size_t, const std::uint32_t*, std::uint32_t*);
extern template void exclusive_scan(Context&, std::size_t, const std::int64_t*, std::int64_t*);
extern template void exclusive_scan(Context&, std::size_t, const std::uint64_t*, std::uint64_t*);

}  // namespace stickslip::STICKSLIP_BACKEND
