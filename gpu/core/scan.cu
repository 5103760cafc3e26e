#include "gpu/core/scan.h"

#include "gpu/core/chunks.h"
#include "gpu/core/scratch_slots.h"

#if STICKSLIP_ON_CUDA
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#endif

namespace stickslip::STICKSLIP_BACKEND {

#if STICKSLIP_ON_CUDA

namespace {

/// The input with a zero behind it, so that a scan of n + 1 entries ends with the total.
template <class T>
struct Padded {
  const T* in;
  std::size_t n;
  __device__ T operator()(std::size_t i) const { return i < n ? in[i] : T(0); }
};

}  // namespace

template <class T>
void exclusive_scan(Context& ctx, std::size_t n, const T* in, T* out) {
  ++ctx.counters().launches;
  const auto padded =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::size_t{0}), Padded<T>{in, n});
  std::size_t bytes = 0;
  SS_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, padded, out, n + 1, ctx.stream()));
  void* temporary = ctx.scratch(slot::library_temporary, bytes);
  SS_CUDA(cub::DeviceScan::ExclusiveSum(temporary, bytes, padded, out, n + 1, ctx.stream()));
}

#else

namespace {

constexpr std::size_t kScanChunk = 8192;

template <class T>
T scan_range(const T* in, T* out, std::size_t begin, std::size_t end, T sum) {
  for (std::size_t i = begin; i < end; ++i) {
    const T value = in[i];
    out[i] = sum;
    sum += value;
  }
  return sum;
}

}  // namespace

template <class T>
void exclusive_scan(Context& ctx, std::size_t n, const T* in, T* out) {
  if (n <= kScanChunk || ctx.threads() == 1) {
    ++ctx.counters().launches;
    out[n] = scan_range(in, out, 0, n, T(0));
    return;
  }
  const std::size_t chunks = detail::chunk_count(n, kScanChunk);
  T* start = static_cast<T*>(ctx.scratch(slot::scan_partials, (chunks + 1) * sizeof(T)));
  detail::for_chunks(ctx, n, kScanChunk, [=](std::size_t c, std::size_t begin, std::size_t end) {
    T sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += in[i];
    start[c] = sum;
  });
  const T total = scan_range(start, start, 0, chunks, T(0));
  detail::for_chunks(ctx, n, kScanChunk, [=](std::size_t c, std::size_t begin, std::size_t end) {
    scan_range(in, out, begin, end, start[c]);
  });
  out[n] = total;
}

#endif

template void exclusive_scan(Context&, std::size_t, const std::int32_t*, std::int32_t*);
template void exclusive_scan(Context&, std::size_t, const std::uint32_t*, std::uint32_t*);
template void exclusive_scan(Context&, std::size_t, const std::int64_t*, std::int64_t*);
template void exclusive_scan(Context&, std::size_t, const std::uint64_t*, std::uint64_t*);

}  // namespace stickslip::STICKSLIP_BACKEND
