#include "bench/cub_peer.h"

// Empty for the host compiler.
#if STICKSLIP_ON_CUDA
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "bench/benches.cuh"
#include "gpu/core/buffer.h"

namespace stickslip::cuda {

namespace {

struct IsEven {
  const std::uint32_t* in;
  __device__ bool operator()(std::int32_t i) const { return in[i] % 2 == 0; }
};

/// `call(temporary, bytes)` in CUB's convention: the first call returns the bytes, the next ones are timed.
template <class Call>
double cub_seconds(Context& ctx, int repetitions, Call call) {
  std::size_t bytes = 0;
  SS_CUDA(call(nullptr, bytes));
  Buffer<char> temporary(ctx, bytes);
  return best_seconds(ctx, repetitions, [&] { SS_CUDA(call(temporary.data(), bytes)); });
}

}  // namespace

double cub_reduce_seconds(Context& ctx, std::size_t n, const double* in, int repetitions) {
  Buffer<double> sum(ctx, 1);
  return cub_seconds(ctx, repetitions, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(temporary, bytes, in, sum.data(), static_cast<int>(n), ctx.stream());
  });
}

double cub_scan_seconds(Context& ctx, std::size_t n, const std::int32_t* in, int repetitions) {
  Buffer<std::int32_t> out(ctx, n);
  return cub_seconds(ctx, repetitions, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out.data(), static_cast<int>(n), ctx.stream());
  });
}

double cub_select_seconds(Context& ctx, std::size_t n, const std::uint32_t* in, int repetitions) {
  Buffer<std::int32_t> out(ctx, n), count(ctx, 1);
  const auto indices = thrust::make_counting_iterator(std::int32_t{0});
  return cub_seconds(ctx, repetitions, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceSelect::If(temporary, bytes, indices, out.data(), count.data(), static_cast<int>(n),
                                 IsEven{in}, ctx.stream());
  });
}

template <class K>
double cub_sort_seconds(Context& ctx, std::size_t n, const K* keys, const std::int32_t* values,
                        int repetitions) {
  Buffer<K> sorted_keys(ctx, n);
  Buffer<std::int32_t> sorted_values(ctx, n);
  return cub_seconds(ctx, repetitions, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, sorted_keys.data(), values,
                                           sorted_values.data(), static_cast<int>(n), 0, 8 * sizeof(K),
                                           ctx.stream());
  });
}

template double cub_sort_seconds(Context&, std::size_t, const std::uint32_t*, const std::int32_t*, int);
template double cub_sort_seconds(Context&, std::size_t, const std::uint64_t*, const std::int32_t*, int);

}  // namespace stickslip::cuda

#endif
