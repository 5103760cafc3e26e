// Stable radix sorts, in place.
#pragma once

#include "gpu/core/context.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Sorts keys[0..n) ascending by their lowest `end_bit` bits (higher bits must be zero) and moves
/// values[0..n) along; equal keys keep their order. K: uint32, uint64; V: int32, uint32. n < 2^31.
/// Asynchronous.
template <class K, class V>
void sort_pairs(Context& ctx, std::size_t n, K* keys, V* values, int end_bit = 8 * sizeof(K));

/// The same without values.
template <class K>
void sort_keys(Context& ctx, std::size_t n, K* keys, int end_bit = 8 * sizeof(K));

extern template void sort_pairs(Context&, std::size_t, std::uint32_t*, std::uint32_t*, int);
extern template void sort_pairs(Context&, std::size_t, std::uint32_t*, std::int32_t*, int);
extern template void sort_pairs(Context&, std::size_t, std::uint64_t*, std::uint32_t*, int);
extern template void sort_pairs(Context&, std::size_t, std::uint64_t*, std::int32_t*, int);
extern template void sort_keys(Context&, std::size_t, std::uint32_t*, int);
extern template void sort_keys(Context&, std::size_t, std::uint64_t*, int);

}  // namespace stickslip::STICKSLIP_BACKEND
