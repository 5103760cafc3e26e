// Resources of one frame in flight: commands, the positions that it reads, and the data of each of its views.
#pragma once

#include <cstdint>
#include <deque>

#include "app/render/position_slots.h"
#include "app/render/view_slot.h"

namespace stickslip {

class FrameSlot {
 public:
  FrameSlot(const Device& device, const PipelineLayouts& layouts);

  /// Waits until the device has finished the slot's last picture.
  void wait() const;
  /// Holds published positions for a picture, until the next call or `let_go`.
  void hold(const SlotHold& published) { held_ = published; }
  /// Releases the positions. Call after the device has finished the picture.
  void let_go() { held_ = {}; }
  /// Call after the scene or the light maps were replaced.
  void forget_bindings();
  const SlotHold& held() const { return held_; }
  /// Positions that the host has copied into the slot so far.
  std::uint64_t bytes_copied() const;

  /// The data of the picture's views, by their number; made when it is first needed.
  ViewSlot& view(std::size_t number);
  VkCommandBuffer commands() const { return commands_; }
  VkFence fence() const { return fence_; }
  VkSemaphore acquired() const { return acquired_; }

 private:
  const Device& device_;
  const PipelineLayouts& layouts_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Fence fence_;
  Semaphore acquired_;
  std::deque<ViewSlot> views_;
  SlotHold held_;
};

}  // namespace stickslip
