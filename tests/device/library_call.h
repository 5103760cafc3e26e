// Kernels of libraries (CUB), which run on the emulated device as one lane.
#pragma once

#include "tests/device/kernel.h"

namespace stickslip::emulation {

/// A kernel of one lane that runs `body`.
template <class Body>
void one_lane(Body body) {
  body();
}

/// The convention of CUB: without `temporary`, `bytes` is set to `needed`; with it, the call is launched.
template <class Body>
cudaError_t library_call(void* temporary, std::size_t& bytes, std::size_t needed, cudaStream_t stream,
                         Body body) {
  if (temporary == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  void* arguments[] = {&body};
  return cudaLaunchKernel(kernel_address(&one_lane<Body>), dim3(1), dim3(1), arguments, 0, stream);
}

}  // namespace stickslip::emulation
