// Data of one view of a picture: uniforms, positions, looks, glyphs, and the descriptor set that binds them.
#pragma once

#include <span>

#include "app/render/light_view.h"
#include "app/render/targets.h"

namespace stickslip {

class ViewSlot {
 public:
  ViewSlot(const Device& device, const PipelineLayouts& layouts);

  /// Copies changed data into the buffers, which must be idle. Positions in another buffer, `source`, are
  /// bound instead of copied; without a buffer they are those of the pane or the scene.
  void upload(const SceneBuffers& scene, const LightMaps& maps, const VkDescriptorBufferInfo& source,
              const shared::FrameData& frame, const Pane& pane);
  /// Call after the scene or the light maps were replaced.
  void forget_bindings();
  /// Positions that the host has copied so far.
  std::uint64_t bytes_copied() const { return bytes_copied_; }

  VkDescriptorSet set() const { return set_; }
  const shared::FrameData& frame() const { return frame_; }
  std::uint32_t glyph_count() const { return glyph_count_; }

 private:
  void upload_positions(const SceneBuffers& scene, std::span<const Vec3f> own);
  void upload_looks(const SceneBuffers& scene, const Pane& pane);
  void upload_glyphs(const Pane& pane, const SceneBuffers& scene);
  void upload_heat(const FrameView& view);
  void bind(const SceneBuffers& scene, const LightMaps& maps, const VkDescriptorBufferInfo& positions);

  const Device& device_;
  DescriptorPool pool_;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  GpuBuffer uniforms_, positions_, normals_, looks_, glyphs_, heat_;
  shared::FrameData frame_{};
  std::uint64_t positions_version_ = 0;
  VkDescriptorBufferInfo bound_positions_{};
  std::uint64_t bytes_copied_ = 0;
  std::uint32_t glyph_count_ = 0;
  bool bound_ = false;
};

}  // namespace stickslip
