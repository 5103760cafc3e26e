// Everything one frame in flight writes: commands, uniforms, positions, glyphs, and the descriptor set that
// names them.
#pragma once

#include <vector>

#include "app/render/light_view.h"
#include "app/render/targets.h"

namespace stickslip {

class FrameSlot {
 public:
  FrameSlot(const Device& device, const PipelineLayouts& layouts);

  /// Waits until the device has finished the slot's last picture.
  void wait() const;
  /// Copies what changed into the slot's buffers. The slot must be idle.
  void upload(const SceneBuffers& scene, const LightMaps& maps, const shared::FrameData& frame,
              const FrameView& view);
  /// After the scene or the light maps were replaced.
  void forget_bindings() { bound_ = false; }

  VkCommandBuffer commands() const { return commands_; }
  VkFence fence() const { return fence_; }
  VkSemaphore acquired() const { return acquired_; }
  VkDescriptorSet set() const { return set_; }
  const shared::FrameData& frame() const { return frame_; }
  std::uint32_t glyph_count() const { return glyph_count_; }

 private:
  void upload_glyphs(const FrameView& view, const SceneBuffers& scene);
  void bind(const SceneBuffers& scene, const LightMaps& maps);

  const Device& device_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  Fence fence_;
  Semaphore acquired_;
  DescriptorPool pool_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  GpuBuffer uniforms_, positions_, normals_, looks_, glyphs_;
  shared::FrameData frame_{};
  std::uint64_t positions_version_ = 0;
  std::uint32_t glyph_count_ = 0;
  bool bound_ = false;
};

}  // namespace stickslip
