// fold_block: a block's values combined to one, for kernels with 256 threads per block.
#pragma once

#include "gpu/core/backend.h"

#if STICKSLIP_ON_CUDA
namespace stickslip::cuda::detail {

inline constexpr unsigned kFoldBlock = 256;

/// shared[0] = op over all threads' values, in a fixed order, for thread 0; other threads see it after one
/// more barrier, and before that none may write to `shared`. Every thread must call this; `shared` has
/// kFoldBlock values. Sixteen threads first fold
/// sixteen values each, so that there are two barriers where halving would take eight.
template <class T, class Op>
__device__ void fold_block(T* shared, const T& mine, const Op& op) {
  constexpr unsigned kRows = 16, kColumns = kFoldBlock / kRows;
  const unsigned t = threadIdx.x;
  shared[t] = mine;
  __syncthreads();
  if (t < kColumns) {
    T sum = shared[t];
    for (unsigned row = 1; row < kRows; ++row) sum = op(sum, shared[t + row * kColumns]);
    shared[t] = sum;
  }
  __syncthreads();
  if (t == 0) {
    T sum = shared[0];
    for (unsigned column = 1; column < kColumns; ++column) sum = op(sum, shared[column]);
    shared[0] = sum;
  }
}

}  // namespace stickslip::cuda::detail
#endif
