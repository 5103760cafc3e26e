// Backend memory as the host sees it.
#pragma once

#include <span>
#include <vector>

#include "gpu/core/buffer.h"

namespace stickslip::STICKSLIP_BACKEND {

/// The `count` values at `data`: in place on a processor, whose launches have ended; else a copy in `copy`.
template <class T>
std::span<const T> host_view(Context& ctx, const T* data, std::size_t count, std::vector<T>& copy) {
#if STICKSLIP_ON_CUDA
  copy.resize(count);
  copy_to_host(ctx, copy.data(), data, count);
  return copy;
#else
  static_cast<void>(ctx);
  static_cast<void>(copy);
  return {data, count};
#endif
}

}  // namespace stickslip::STICKSLIP_BACKEND
