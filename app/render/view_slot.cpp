#include "app/render/view_slot.h"

#include <array>

#include "app/render/glyphs.h"

namespace stickslip {

ViewSlot::ViewSlot(const Device& device, const PipelineLayouts& layouts)
    : device_(device),
      uniforms_(GpuBuffer::mapped(device, sizeof(shared::FrameData), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT)) {
  constexpr std::uint32_t kStorageBuffers = shared::kGlyphBinding - shared::kPositionBinding + 3;
  constexpr std::uint32_t kMaps = shared::kSkyMapBinding - shared::kSunMapBinding + 1;
  const std::array<VkDescriptorPoolSize, 3> sizes = {{{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1},
                                                      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kStorageBuffers},
                                                      {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, kMaps}}};
  VkDescriptorPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = 1;
  pool.poolSizeCount = static_cast<std::uint32_t>(sizes.size());
  pool.pPoolSizes = sizes.data();
  pool_ = make<DescriptorPool, vkCreateDescriptorPool>(device.handle(), pool, "vkCreateDescriptorPool");

  const VkDescriptorSetLayout layout = layouts.set;
  VkDescriptorSetAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocation.descriptorPool = pool_;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &layout;
  check(vkAllocateDescriptorSets(device.handle(), &allocation, &set_), "vkAllocateDescriptorSets");
}

void ViewSlot::forget_bindings() {
  bound_ = false;
  positions_ = {};
}

void ViewSlot::upload(const SceneBuffers& scene, const LightMaps& maps, const VkDescriptorBufferInfo& source,
                      const shared::FrameData& frame, const Pane& pane) {
  constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (!bound_) {
    normals_ = GpuBuffer::device_local(device_, scene.vertex_count * sizeof(Vec3f), kStorage);
    looks_ = GpuBuffer::mapped(device_, scene.looks().size() * sizeof(shared::ObjectLook), kStorage);
  }
  frame_ = frame;
  uniforms_.write(std::span(&frame, 1));
  if (!source.buffer) upload_positions(scene, pane.positions);
  const VkDescriptorBufferInfo positions =
      source.buffer ? source : VkDescriptorBufferInfo{positions_.handle(), 0, VK_WHOLE_SIZE};
  upload_looks(scene, pane);
  upload_glyphs(pane, scene);
  upload_heat(pane.view);
  const bool same =
      positions.buffer == bound_positions_.buffer && positions.offset == bound_positions_.offset;
  if (!bound_ || !same) bind(scene, maps, positions);
}

void ViewSlot::upload_positions(const SceneBuffers& scene, std::span<const Vec3f> own) {
  constexpr std::uint64_t kNone = 0;  // no version of the scene
  if (!positions_.handle()) {
    positions_ = GpuBuffer::mapped(device_, scene.positions().size() * sizeof(Vec3f),
                                   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    positions_version_ = kNone;
  }
  if (own.empty() && positions_version_ == scene.version()) return;
  positions_.write(own.empty() ? std::span(scene.positions()) : own);
  positions_version_ = own.empty() ? scene.version() : kNone;
  bytes_copied_ += scene.positions().size() * sizeof(Vec3f);
}

void ViewSlot::upload_looks(const SceneBuffers& scene, const Pane& pane) {
  std::vector<shared::ObjectLook> looks = scene.looks();
  for (std::size_t i = 0; i < pane.colors.size(); ++i) scene.paint(looks, i, pane.colors[i]);
  if (pane.view.highlighted_object >= 0)
    for (auto i = static_cast<std::size_t>(pane.view.highlighted_object); i < looks.size();
         i += scene.objects())
      looks[i].color.w = 1;
  looks_.write(std::span<const shared::ObjectLook>(looks));
}

/// The buffer exists without heat, too, since the shader names it.
void ViewSlot::upload_heat(const FrameView& view) {
  const std::size_t bytes = view.heat.size_bytes();
  if (heat_.size() < bytes || heat_.size() == 0) {
    heat_ = GpuBuffer::mapped(device_, bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    bound_ = false;
  }
  if (bytes > 0) heat_.write(view.heat);
}

void ViewSlot::upload_glyphs(const Pane& pane, const SceneBuffers& scene) {
  const std::vector<shared::Glyph> glyphs = make_glyphs(pane.view, scene, pane.width, pane.height);
  const std::size_t bytes = glyphs.size() * sizeof(shared::Glyph);
  glyph_count_ = static_cast<std::uint32_t>(glyphs.size());
  if (glyphs_.size() < bytes || glyphs_.size() == 0) {
    glyphs_ = GpuBuffer::mapped(device_, 2 * bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    bound_ = false;
  }
  glyphs_.write(std::span<const shared::Glyph>(glyphs));
}

void ViewSlot::bind(const SceneBuffers& scene, const LightMaps& maps,
                    const VkDescriptorBufferInfo& positions) {
  std::array<VkDescriptorBufferInfo, shared::kGlyphBinding + 1> buffers{};
  const auto buffer = [&](int binding, const GpuBuffer& source) {
    buffers[static_cast<std::size_t>(binding)] = {source.handle(), 0, VK_WHOLE_SIZE};
  };
  buffer(shared::kFrameBinding, uniforms_);
  buffers[shared::kPositionBinding] = bound_positions_ = positions;
  buffer(shared::kVertexBinding, scene.vertices);
  buffer(shared::kFanBinding, scene.fans);
  buffer(shared::kTriangleBinding, scene.triangles);
  buffer(shared::kNormalBinding, normals_);
  buffer(shared::kObjectBinding, looks_);
  buffer(shared::kGlyphBinding, glyphs_);
  constexpr VkImageLayout kRead = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL;
  const std::array<VkDescriptorImageInfo, 3> images = {{{maps.compare, maps.sun.view(), kRead},
                                                        {maps.plain, maps.sun.view(), kRead},
                                                        {maps.compare, maps.sky.view(), kRead}}};
  const VkDescriptorBufferInfo rods{scene.rods.handle(), 0, VK_WHOLE_SIZE};
  std::vector<VkWriteDescriptorSet> writes;
  const auto write = [&](std::size_t binding, VkDescriptorType type) -> VkWriteDescriptorSet& {
    VkWriteDescriptorSet& w = writes.emplace_back();
    w.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    w.dstSet = set_;
    w.dstBinding = static_cast<std::uint32_t>(binding);
    w.descriptorCount = 1;
    w.descriptorType = type;
    return w;
  };
  for (std::size_t b = 0; b < buffers.size(); ++b)
    write(b,
          b == shared::kFrameBinding ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER)
        .pBufferInfo = &buffers[b];
  write(shared::kRodBinding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER).pBufferInfo = &rods;
  const VkDescriptorBufferInfo heat{heat_.handle(), 0, VK_WHOLE_SIZE};
  write(shared::kHeatBinding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER).pBufferInfo = &heat;
  for (std::size_t i = 0; i < images.size(); ++i)
    write(shared::kSunMapBinding + i, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER).pImageInfo = &images[i];
  vkUpdateDescriptorSets(device_.handle(), static_cast<std::uint32_t>(writes.size()), writes.data(), 0,
                         nullptr);
  bound_ = true;
}

}  // namespace stickslip
