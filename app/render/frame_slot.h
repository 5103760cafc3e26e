// Resources of one frame in flight: commands, uniforms, positions, glyphs, and the descriptor set that binds
// them.
#pragma once

#include <vector>

#include "app/render/light_view.h"
#include "app/render/position_slots.h"
#include "app/render/targets.h"

namespace stickslip {

/// Node positions in a buffer outside the frame slot.
struct PositionSource {
  SlotHold published;  // empty: the scene's positions
  VkDescriptorBufferInfo binding{};
};

class FrameSlot {
 public:
  FrameSlot(const Device& device, const PipelineLayouts& layouts);

  /// Waits until the device has finished the slot's last picture.
  void wait() const;
  /// Copies changed data into the slot's buffers. The slot must be idle. Positions of a source are held
  /// instead of copied, until the next upload or `let_go`.
  void upload(const SceneBuffers& scene, const LightMaps& maps, const PositionSource& source,
              const shared::FrameData& frame, const FrameView& view);
  /// Releases the positions. Call after the device has finished the picture.
  void let_go() { held_ = {}; }
  /// Call after the scene or the light maps were replaced.
  void forget_bindings();
  const SlotHold& held() const { return held_; }
  /// Positions that the host has copied into the slot so far.
  std::uint64_t bytes_copied() const { return bytes_copied_; }

  VkCommandBuffer commands() const { return commands_; }
  VkFence fence() const { return fence_; }
  VkSemaphore acquired() const { return acquired_; }
  VkDescriptorSet set() const { return set_; }
  const shared::FrameData& frame() const { return frame_; }
  std::uint32_t glyph_count() const { return glyph_count_; }

 private:
  void upload_glyphs(const FrameView& view, const SceneBuffers& scene);
  void upload_positions(const SceneBuffers& scene);
  void upload_heat(const FrameView& view);
  void bind(const SceneBuffers& scene, const LightMaps& maps, const VkDescriptorBufferInfo& positions);

  const Device& device_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Fence fence_;
  Semaphore acquired_;
  DescriptorPool pool_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  GpuBuffer uniforms_, positions_, normals_, looks_, glyphs_, heat_;
  shared::FrameData frame_{};
  std::uint64_t positions_version_ = 0;
  VkDescriptorBufferInfo bound_positions_{};
  SlotHold held_;
  std::uint64_t bytes_copied_ = 0;
  std::uint32_t glyph_count_ = 0;
  bool bound_ = false;
};

}  // namespace stickslip
