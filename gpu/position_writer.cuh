// Writes the positions of all nodes into memory of whoever draws them.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/core/external_memory.h"
#include "gpu/sharing.h"

namespace stickslip::STICKSLIP_BACKEND {

class PositionWriter {
 public:
  /// Throws std::runtime_error when the target cannot be reached from this backend.
  PositionWriter(Context& ctx, PositionTarget target);

  ShareKind kind() const { return memory_ ? ShareKind::cuda : ShareKind::mapped; }

  /// Fills the slot, and signals `value` where there is a semaphore. All of it has happened on return,
  /// because the box is read back.
  PublishedBox write(Context& ctx, const Vec<Real, 3>* x, std::size_t slot, std::uint64_t value);

  /// In stream order.
  void convert(Context& ctx, const Vec<Real, 3>* x, Vec<float, 3>* target);
  PublishedBox box(Context& ctx, const Vec<Real, 3>* x);

 private:
  PositionTarget target_;
  std::optional<ExternalMemory> memory_;
  std::optional<ExternalTimeline> timeline_;
  Buffer<std::int32_t> framed_;
  Buffer<PublishedBox> box_;
  Buffer<Vec<float, 3>> staging_;  // of a device, whose kernels do not reach mapped memory
};

}  // namespace stickslip::STICKSLIP_BACKEND
