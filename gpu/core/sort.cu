#include "gpu/core/sort.h"

#include "gpu/core/buffer.h"
#include "gpu/core/scratch_slots.h"

#if STICKSLIP_ON_CUDA
#include <cub/device/device_radix_sort.cuh>
#else
#include "gpu/core/radix_sort_cpu.h"
#endif

namespace stickslip::STICKSLIP_BACKEND {

namespace {

#if STICKSLIP_ON_CUDA

/// Two buffers side by side in one scratch block, each aligned for CUB.
std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

template <class K>
void sort_pairs_u32(Context& ctx, std::size_t n, K* keys, std::uint32_t* values, int end_bit) {
  if (n < 2) return;
  ++ctx.counters().launches;
  const std::size_t key_bytes = aligned(n * sizeof(K));
  auto* other = static_cast<char*>(ctx.scratch(slot::sort_alternate, key_bytes + n * sizeof(std::uint32_t)));
  cub::DoubleBuffer<K> k(keys, reinterpret_cast<K*>(other));
  cub::DoubleBuffer<std::uint32_t> v(values, reinterpret_cast<std::uint32_t*>(other + key_bytes));
  std::size_t bytes = 0;
  const int count = static_cast<int>(n);
  SS_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, count, 0, end_bit, ctx.stream()));
  void* temporary = ctx.scratch(slot::library_temporary, bytes);
  SS_CUDA(cub::DeviceRadixSort::SortPairs(temporary, bytes, k, v, count, 0, end_bit, ctx.stream()));
  if (k.Current() != keys) copy(ctx, keys, k.Current(), n);
  if (v.Current() != values) copy(ctx, values, v.Current(), n);
}

template <class K>
void sort_keys_only(Context& ctx, std::size_t n, K* keys, int end_bit) {
  if (n < 2) return;
  ++ctx.counters().launches;
  cub::DoubleBuffer<K> k(keys, static_cast<K*>(ctx.scratch(slot::sort_alternate, n * sizeof(K))));
  std::size_t bytes = 0;
  const int count = static_cast<int>(n);
  SS_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, bytes, k, count, 0, end_bit, ctx.stream()));
  void* temporary = ctx.scratch(slot::library_temporary, bytes);
  SS_CUDA(cub::DeviceRadixSort::SortKeys(temporary, bytes, k, count, 0, end_bit, ctx.stream()));
  if (k.Current() != keys) copy(ctx, keys, k.Current(), n);
}

#else

template <class K>
void sort_pairs_u32(Context& ctx, std::size_t n, K* keys, std::uint32_t* values, int end_bit) {
  radix::sort(ctx, n, radix::PairArrays<K>{keys, values}, end_bit);
}

template <class K>
void sort_keys_only(Context& ctx, std::size_t n, K* keys, int end_bit) {
  radix::sort(ctx, n, radix::KeyArray<K>{keys}, end_bit);
}

#endif

}  // namespace

template <class K, class V>
void sort_pairs(Context& ctx, std::size_t n, K* keys, V* values, int end_bit) {
  // Values are only moved, so one instantiation serves both signs.
  sort_pairs_u32(ctx, n, keys, reinterpret_cast<std::uint32_t*>(values), end_bit);
}

template <class K>
void sort_keys(Context& ctx, std::size_t n, K* keys, int end_bit) {
  sort_keys_only(ctx, n, keys, end_bit);
}

template void sort_pairs(Context&, std::size_t, std::uint32_t*, std::uint32_t*, int);
template void sort_pairs(Context&, std::size_t, std::uint32_t*, std::int32_t*, int);
template void sort_pairs(Context&, std::size_t, std::uint64_t*, std::uint32_t*, int);
template void sort_pairs(Context&, std::size_t, std::uint64_t*, std::int32_t*, int);
template void sort_keys(Context&, std::size_t, std::uint32_t*, int);
template void sort_keys(Context&, std::size_t, std::uint64_t*, int);

}  // namespace stickslip::STICKSLIP_BACKEND
