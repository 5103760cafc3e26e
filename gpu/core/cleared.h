// resize_cleared: memory for records that kernels write member by member and the host reads whole.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/launch.h"

namespace stickslip::STICKSLIP_BACKEND {

/// As Buffer::resize; memory that is new to the buffer is zero. So padding, and members that a kernel leaves
/// out, are defined when the host reads them.
template <class T>
void resize_cleared(Context& ctx, Buffer<T>& buffer, std::size_t size) {
  const bool grows = size > buffer.capacity();
  buffer.resize(ctx, size);
  if (grows)
    fill(ctx, reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.capacity() * sizeof(T), std::uint8_t{0});
}

}  // namespace stickslip::STICKSLIP_BACKEND
