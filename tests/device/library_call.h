// Kernels of libraries (CUB), which run on the emulated device as one lane.
#pragma once

#include "tests/device/kernel.h"

namespace stickslip::emulation {

template <class Body>
struct OfLibrary : LibraryCall {
  OfLibrary(int n, const Body& b) : LibraryCall{n}, body(b) {}
  Body body;
};

/// A kernel of one lane that runs the body.
template <class Body>
void one_lane(OfLibrary<Body> call) {
  call.body();
}

/// The convention of CUB: without `temporary`, `bytes` is set to `needed`; with it, the call is launched.
template <class Body>
cudaError_t library_call(void* temporary, std::size_t& bytes, std::size_t needed, cudaStream_t stream,
                         Body body, int launches = 2) {
  if (temporary == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  OfLibrary<Body> call(launches, body);
  void* arguments[] = {&call};
  return cudaLaunchKernel(kernel_address(&one_lane<Body>), dim3(1), dim3(1), arguments, 0, stream);
}

}  // namespace stickslip::emulation
