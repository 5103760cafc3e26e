// Node positions in memory that an engine writes and pictures are drawn from.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "app/render/position_slots.h"
#include "app/render/resources.h"

namespace stickslip {

/// One buffer with PositionSlots::count slots, for the thread of the renderer. No slot may be read by the
/// device any more when it is destroyed.
class SharedPositions {
 public:
  /// `cuda`: device memory and a timeline semaphore, both exported as far as the device can; `mapped`: memory
  /// that the host sees.
  SharedPositions(const Device& device, std::size_t nodes, ShareKind kind);
  ~SharedPositions() { slots_->close(); }
  SharedPositions(const SharedPositions&) = delete;
  SharedPositions& operator=(const SharedPositions&) = delete;

  /// What an engine needs to write there; its box is that of the nodes `framed`.
  PositionTarget target(std::vector<std::int32_t> framed);
  const std::shared_ptr<PositionSlots>& slots() const { return slots_; }

  /// Where a shader finds a publication.
  VkDescriptorBufferInfo binding(const SlotHold& published) const;
  /// What commands that read it have to wait for.
  SemaphoreWait filled(const SlotHold& published) const;
  /// Before commands first read a publication of another driver: its memory becomes Vulkan's. Nobody gives it
  /// back, because the writer overwrites a slot as a whole.
  void record_takeover(VkCommandBuffer commands, const SlotHold& published);
  /// On the host: where it stands, or as a copy where the host does not see or hardly reads that memory.
  std::span<const Vec3f> read(const SlotHold& published);
  std::uint64_t bytes_read() const { return bytes_read_; }

  const GpuBuffer& buffer() const { return buffer_; }
  VkSemaphore semaphore() const { return semaphore_; }  // null unless `cuda`
  const Device& device() const { return device_; }

 private:
  std::size_t bytes() const { return nodes_ * sizeof(Vec3f); }
  VkDeviceSize offset(const SlotHold& published) const { return published.index() * stride_; }

  const Device& device_;
  ShareKind kind_;
  std::size_t nodes_, stride_;
  GpuBuffer buffer_;
  Semaphore semaphore_;
  std::array<std::uint64_t, PositionSlots::count> taken_over_{};  // value of the last publication, per slot
  GpuBuffer copy_;                                                // of the publication read last
  std::uint64_t copied_ = 0;                                      // its value
  std::uint64_t bytes_read_ = 0;
  std::shared_ptr<PositionSlots> slots_;
};

}  // namespace stickslip
