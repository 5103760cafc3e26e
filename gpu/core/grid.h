// launch_grid(ctx, work, f): one kernel that stays on the device through many dependent phases.
//
// A phase ends in a barrier of all lanes, which costs about a microsecond where a launch of its own costs two
// or three: right for small systems that iterate.
#pragma once

#include <algorithm>

#include "gpu/core/block_fold.h"
#include "gpu/core/launch.h"
#include "gpu/core/scratch_slots.h"

#if STICKSLIP_ON_CUDA
#include <cooperative_groups.h>
#endif

namespace stickslip::STICKSLIP_BACKEND {

inline constexpr unsigned kGridBlock = 256;  // kFoldBlock on CUDA

/// All lanes of one launch_grid: the threads of a cooperative launch on CUDA, a single one on the CPU. Every
/// lane must make the same calls.
class Grid {
 public:
#if STICKSLIP_ON_CUDA
  __device__ explicit Grid(unsigned char* partials) : partials_(partials) {}

  /// f(i) for every i in [0, n) on all lanes; then all lanes see what was written.
  template <class F>
  __device__ void each(std::size_t n, F f) const {
    for (std::size_t i = lane(); i < n; i += lanes()) f(i);
    cooperative_groups::this_grid().sync();
  }
  /// The sum of f(i), the same bits on every lane and in every run. T: at most 64 bytes.
  template <class T, class F>
  __device__ T sum(std::size_t n, F f) const {
    static_assert(sizeof(T) <= kPartialBytes);
    const auto add = [](const T& a, const T& b) { return a + b; };
    T mine{};
    for (std::size_t i = lane(); i < n; i += lanes()) mine = mine + f(i);
    SS_SHARED(Partials<T>, bytes);
    T* shared = reinterpret_cast<T*>(bytes.data);
    T* partials = reinterpret_cast<T*>(partials_ + turn_ * kMostBlocks * kPartialBytes);
    detail::fold_block(shared, mine, add);
    if (threadIdx.x == 0) partials[blockIdx.x] = shared[0];
    cooperative_groups::this_grid().sync();
    // Each block adds up all partial sums for itself. The next sum writes elsewhere, and the one after it
    // cannot begin before all blocks have read these.
    turn_ = 1 - turn_;
    T total{};
    for (unsigned b = threadIdx.x; b < gridDim.x; b += kGridBlock) total = total + partials[b];
    detail::fold_block(shared, total, add);
    __syncthreads();
    const T result = shared[0];
    __syncthreads();
    return result;
  }
  /// Whether this lane writes what all have in common.
  __device__ bool is_first() const { return lane() == 0; }

  static constexpr unsigned kMostBlocks = 1024, kPartialBytes = 64;

 private:
  template <class T>
  struct Partials {
    alignas(16) unsigned char data[kGridBlock * sizeof(T)];
  };
  __device__ std::size_t lane() const {
    return blockIdx.x * static_cast<std::size_t>(kGridBlock) + threadIdx.x;
  }
  __device__ std::size_t lanes() const { return static_cast<std::size_t>(gridDim.x) * kGridBlock; }
  unsigned char* partials_;
  mutable unsigned turn_ = 0;
#else
  template <class F>
  void each(std::size_t n, F f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  template <class T, class F>
  T sum(std::size_t n, F f) const {
    T total{};
    for (std::size_t i = 0; i < n; ++i) total = total + f(i);
    return total;
  }
  bool is_first() const { return true; }
#endif
};

#if STICKSLIP_ON_CUDA

static_assert(kGridBlock == detail::kFoldBlock);

namespace detail {
template <class F>
__global__ void __launch_bounds__(kGridBlock) grid_kernel(F f, unsigned char* partials) {
  f(Grid(partials));
}
}  // namespace detail

/// Runs f(grid) once, with as many lanes as `work` items can use and the device can hold at a time.
template <class F>
void launch_grid(Context& ctx, std::size_t work, F f) {
  if (work == 0) return;
  ++ctx.counters().launches;
  static const int resident = [] {
    int device = 0, processors = 0, blocks = 0;
    SS_CUDA(cudaGetDevice(&device));
    SS_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    SS_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, detail::grid_kernel<F>, int{kGridBlock}, 0));
    return processors * blocks;
  }();
  const std::size_t wanted = (work + kGridBlock - 1) / kGridBlock;
  const auto most = static_cast<std::size_t>(std::min<int>(resident, Grid::kMostBlocks));
  auto* partials = static_cast<unsigned char*>(
      ctx.scratch(slot::reduce_partials, 2 * Grid::kMostBlocks * Grid::kPartialBytes));
  void* arguments[] = {&f, &partials};
  const dim3 blocks(static_cast<unsigned>(std::min(wanted, most)));
  const auto start = [&] {
    return cudaLaunchCooperativeKernel(kernel_address(&detail::grid_kernel<F>), blocks, dim3(kGridBlock),
                                       arguments, 0, ctx.stream());
  };
  const cudaError_t status = start();
  SS_CUDA(made_room(ctx, status) ? start() : status);
}

#else

template <class F>
void launch_grid(Context& ctx, std::size_t work, F f) {
  if (work == 0) return;
  ++ctx.counters().launches;
  f(Grid{});
}

#endif

}  // namespace stickslip::STICKSLIP_BACKEND
