// The one place where kernels start, and the words of CUDA C++ that the emulated device spells otherwise.
#pragma once

#include <type_traits>

#include "gpu/core/context.h"

#if STICKSLIP_ON_CUDA

#if !defined(STICKSLIP_EMULATED_DEVICE)
namespace stickslip {
/// The address of a kernel for calls of the runtime.
template <class... A>
const void* kernel_address(void (*kernel)(A...)) {
  return reinterpret_cast<const void*>(kernel);
}
}  // namespace stickslip

/// `type name`, shared by the block.
#define SS_SHARED(type, name) \
  using name##_type = type;   \
  __shared__ name##_type name
#endif

namespace stickslip::cuda {

/// After a launch with this status: true where the driver found no memory, as for the stacks of a kernel's
/// lanes, and the context had some to give back. The launch may work now.
[[nodiscard]] bool made_room(Context& ctx, cudaError_t status) noexcept;

/// Starts a kernel on the context's stream. Its arguments are copied.
template <class... A>
cudaError_t start_kernel(Context& ctx, void (*kernel)(A...), std::size_t blocks, unsigned lanes,
                         const std::type_identity_t<A>&... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  const auto start = [&] {
    return cudaLaunchKernel(kernel_address(kernel), dim3(static_cast<unsigned>(blocks)), dim3(lanes),
                            pointers, 0, ctx.stream());
  };
  const cudaError_t status = start();
  return made_room(ctx, status) ? start() : status;
}

}  // namespace stickslip::cuda

#endif
