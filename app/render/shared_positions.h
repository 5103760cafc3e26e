// Memory for node positions that an engine writes and the renderer reads.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "app/render/position_slots.h"
#include "app/render/resources.h"

namespace stickslip {

/// One buffer with PositionSlots::count slots, for the renderer's thread. At destruction the device must have
/// finished reading all slots.
class SharedPositions {
 public:
  /// `cuda`: device memory and a timeline semaphore, both exported as far as the device can; `mapped`:
  /// host-visible memory.
  SharedPositions(const Device& device, std::size_t nodes, ShareKind kind);
  ~SharedPositions() { slots_->close(); }
  SharedPositions(const SharedPositions&) = delete;
  SharedPositions& operator=(const SharedPositions&) = delete;

  /// The target for an engine's writes; its box is that of the nodes `framed`.
  PositionTarget target(std::vector<std::int32_t> framed);
  const std::shared_ptr<PositionSlots>& slots() const { return slots_; }

  /// Descriptor of a publication for shaders.
  VkDescriptorBufferInfo binding(const SlotHold& published) const;
  /// The semaphore that commands reading the publication wait for.
  SemaphoreWait filled(const SlotHold& published) const;
  /// Acquires the memory of another driver's publication, before commands first read it. No release follows,
  /// because the writer overwrites the whole slot.
  void record_takeover(VkCommandBuffer commands, const SlotHold& published);
  /// The positions on the host: mapped memory, or a copy if the host cannot read that memory (fast).
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
