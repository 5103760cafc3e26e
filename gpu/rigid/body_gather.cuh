// BodyGather: the entries (rows, blocks) that act on each body, so that bodies can sum them without races.
#pragma once

#include <cstdint>

#include "gpu/core/buffer.h"

namespace stickslip::STICKSLIP_BACKEND {

class BodyGather {
 public:
  /// To be filled, on the backend, with the body of each entry; `bodies` for none. Then call sort().
  std::uint32_t* keys(Context& ctx, std::size_t entries);
  void sort(Context& ctx, std::size_t bodies);

  /// The entries of body b are entry()[start()[b] .. start()[b + 1]), ascending. Backend memory.
  const std::int32_t* start() const { return start_.data(); }
  const std::int32_t* entry() const { return entry_.data(); }

 private:
  Buffer<std::uint32_t> key_;
  Buffer<std::int32_t> entry_, start_;
};

}  // namespace stickslip::STICKSLIP_BACKEND
