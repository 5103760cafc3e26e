// reduce(ctx, n, f, op, identity, out): *out = f(0) op f(1) op ... op f(n - 1), in a fixed order.
//
// The order depends on n and the grain alone, never on the number of threads, so floating-point results
// repeat bit by bit on one backend. `out` is a backend pointer: the host does not wait.
#pragma once

#include "gpu/core/block_fold.h"
#include "gpu/core/chunks.h"
#include "gpu/core/launch.h"
#include "gpu/core/scratch_slots.h"

namespace stickslip::STICKSLIP_BACKEND {

/// Of a chunk, unless a reduction says otherwise. The order of a sum depends on it, and so its last bits.
inline constexpr Grain kSumGrain{2048};

struct Plus {
  template <class T>
  SS_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Minimum {
  template <class T>
  SS_HD T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  SS_HD T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

#if STICKSLIP_ON_CUDA

namespace detail {

inline constexpr unsigned kReduceBlock = kFoldBlock;
inline constexpr unsigned kReduceItems = 8;  // per thread, before a second block pays
inline constexpr std::size_t kReduceMaxBlocks = 1024;

/// Each block folds every gridDim-th tile of 256 and writes one partial result.
template <class T, class F, class Op>
__global__ void __launch_bounds__(kReduceBlock) reduce_kernel(std::size_t n, F f, Op op, T identity, T* out) {
  SS_SHARED(T[kReduceBlock], shared);
  T sum = identity;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kReduceBlock;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(kReduceBlock) + threadIdx.x; i < n; i += stride)
    sum = op(sum, f(i));
  fold_block(shared, sum, op);
  if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

template <class T>
struct Load {
  const T* data;
  __device__ T operator()(std::size_t i) const { return data[i]; }
};

template <class T, class F, class Op>
void launch_reduce(Context& ctx, std::size_t n, F f, Op op, T identity, T* out, unsigned blocks) {
  ++ctx.counters().launches;
  SS_CUDA(start_kernel(ctx, &reduce_kernel<T, F, Op>, blocks, kReduceBlock, n, f, op, identity, out));
}

}  // namespace detail

template <class T, class F, class Op>
void reduce(Context& ctx, std::size_t n, F f, Op op, T identity, T* out, Grain = kSumGrain) {
  using namespace detail;
  static_assert(sizeof(T) * kReduceBlock <= 48 * 1024,
                "the partial results of a block must fit shared memory");
  const std::size_t tile = kReduceBlock * kReduceItems;
  const std::size_t tiles = (n + tile - 1) / tile;
  if (tiles <= 1) {
    launch_reduce(ctx, n, f, op, identity, out, 1);
    return;
  }
  const std::size_t blocks = tiles < kReduceMaxBlocks ? tiles : kReduceMaxBlocks;
  T* partial = static_cast<T*>(ctx.scratch(slot::reduce_partials, blocks * sizeof(T)));
  launch_reduce(ctx, n, f, op, identity, partial, static_cast<unsigned>(blocks));
  launch_reduce(ctx, blocks, Load<T>{partial}, op, identity, out, 1);
}

#else

namespace detail {

/// Four independent accumulators: the chain of additions would otherwise cost more than the memory.
template <class T, class F, class Op>
T reduce_range(std::size_t begin, std::size_t end, const F& f, const Op& op, const T& identity) {
  T a = identity, b = identity, c = identity, d = identity;
  const std::size_t fours = begin + (end - begin) / 4 * 4;
  for (std::size_t i = begin; i < fours; i += 4) {
    a = op(a, f(i));
    b = op(b, f(i + 1));
    c = op(c, f(i + 2));
    d = op(d, f(i + 3));
  }
  for (std::size_t i = fours; i < end; ++i) a = op(a, f(i));
  return op(op(a, b), op(c, d));
}

}  // namespace detail

template <class T, class F, class Op>
void reduce(Context& ctx, std::size_t n, F f, Op op, T identity, T* out, Grain grain = kSumGrain) {
  if (n <= grain.size) {
    ++ctx.counters().launches;
    *out = detail::reduce_range(0, n, f, op, identity);
    return;
  }
  const std::size_t chunks = detail::chunk_count(n, grain.size);
  T* partial = static_cast<T*>(ctx.scratch(slot::reduce_partials, chunks * sizeof(T)));
  detail::for_chunks(ctx, n, grain.size, [=](std::size_t c, std::size_t begin, std::size_t end) {
    partial[c] = detail::reduce_range(begin, end, f, op, identity);
  });
  T total = partial[0];
  for (std::size_t c = 1; c < chunks; ++c) total = op(total, partial[c]);
  *out = total;
}

#endif

/// *out = sum of f(i); T is a number or a Vec, f(i) converts to it. Zero for n = 0.
template <class T, class F>
void reduce_sum(Context& ctx, std::size_t n, F f, T* out, Grain grain = kSumGrain) {
  reduce(ctx, n, f, Plus{}, T{}, out, grain);
}

/// *out = min(identity, all f(i)). A NaN from f is ignored.
template <class T, class F>
void reduce_min(Context& ctx, std::size_t n, F f, T identity, T* out, Grain grain = kSumGrain) {
  reduce(ctx, n, f, Minimum{}, identity, out, grain);
}

/// *out = max(identity, all f(i)). A NaN from f is ignored.
template <class T, class F>
void reduce_max(Context& ctx, std::size_t n, F f, T identity, T* out, Grain grain = kSumGrain) {
  reduce(ctx, n, f, Maximum{}, identity, out, grain);
}

}  // namespace stickslip::STICKSLIP_BACKEND
