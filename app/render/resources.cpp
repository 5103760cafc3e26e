#include "app/render/resources.h"

namespace stickslip {

GpuBuffer::GpuBuffer(const Device& device, std::size_t bytes, VkBufferUsageFlags usage,
                     VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred, Export exported)
    : size_(std::max<std::size_t>(bytes, 16)) {
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkBufferCreateInfo info{};
  if (exported != Export::none) info.pNext = &external;
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = size_;
  info.usage = usage;
  buffer_ = make<BufferHandle, vkCreateBuffer>(device.handle(), info, "vkCreateBuffer");

  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device.handle(), buffer_, &needs);
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = allocated_ = needs.size;
  allocation.memoryTypeIndex = device.memory_type(needs.memoryTypeBits, required, preferred);
  host_cached_ = device.memory_flags(allocation.memoryTypeIndex) & VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  VkExportMemoryAllocateInfo exports{};
  exports.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exports.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.buffer = buffer_;
  if (exported != Export::none) allocation.pNext = &exports;
  if (exported == Export::dedicated) exports.pNext = &dedicated;
  memory_ = make<Memory, vkAllocateMemory>(device.handle(), allocation, "vkAllocateMemory");
  check(vkBindBufferMemory(device.handle(), buffer_, memory_, 0), "vkBindBufferMemory");
  if (required & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
    void* address = nullptr;
    check(vkMapMemory(device.handle(), memory_, 0, VK_WHOLE_SIZE, 0, &address), "vkMapMemory");
    mapped_ = static_cast<std::byte*>(address);
  }
}

constexpr VkMemoryPropertyFlags kHost =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

GpuBuffer GpuBuffer::mapped(const Device& device, std::size_t bytes, VkBufferUsageFlags usage) {
  return GpuBuffer(device, bytes, usage, kHost, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

GpuBuffer GpuBuffer::readback(const Device& device, std::size_t bytes) {
  return GpuBuffer(device, bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT, kHost,
                   VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
}

GpuBuffer GpuBuffer::device_local(const Device& device, std::size_t bytes, VkBufferUsageFlags usage,
                                  Export exported) {
  return GpuBuffer(device, bytes, usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, exported);
}

GpuBuffer GpuBuffer::filled(const Device& device, std::span<const std::byte> data, VkBufferUsageFlags usage) {
  GpuBuffer result = device_local(device, data.size(), usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  if (data.empty()) return result;
  GpuBuffer staging = mapped(device, data.size(), VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  staging.write(data);
  device.run_once([&](VkCommandBuffer commands) {
    const VkBufferCopy region{0, 0, data.size()};
    vkCmdCopyBuffer(commands, staging.handle(), result.handle(), 1, &region);
  });
  return result;
}

VkImageAspectFlags aspect_of(VkFormat format) {
  return format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D16_UNORM ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                                         : VK_IMAGE_ASPECT_COLOR_BIT;
}

ImageView make_view(VkDevice device, VkImage image, VkFormat format) {
  VkImageViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  info.image = image;
  info.viewType = VK_IMAGE_VIEW_TYPE_2D;
  info.format = format;
  info.subresourceRange = {aspect_of(format), 0, 1, 0, 1};
  return make<ImageView, vkCreateImageView>(device, info, "vkCreateImageView");
}

GpuImage::GpuImage(const Device& device, const ImageInfo& wanted) : size_(wanted.size) {
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = wanted.format;
  info.extent = {wanted.size.width, wanted.size.height, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = wanted.samples;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = wanted.usage;
  image_ = make<ImageHandle, vkCreateImage>(device.handle(), info, "vkCreateImage");

  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(device.handle(), image_, &needs);
  VkMemoryAllocateInfo allocation{};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex =
      device.memory_type(needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  memory_ = make<Memory, vkAllocateMemory>(device.handle(), allocation, "vkAllocateMemory");
  check(vkBindImageMemory(device.handle(), image_, memory_, 0), "vkBindImageMemory");
  view_ = make_view(device.handle(), image_, wanted.format);
}

void image_barrier(VkCommandBuffer commands, VkImage image, VkFormat format, const Access& before,
                   const Access& after) {
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.srcStageMask = before.stage;
  barrier.srcAccessMask = before.access;
  barrier.dstStageMask = after.stage;
  barrier.dstAccessMask = after.access;
  barrier.oldLayout = before.layout;
  barrier.newLayout = after.layout;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {aspect_of(format), 0, 1, 0, 1};
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

void memory_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 stage_before,
                    VkAccessFlags2 access_before, VkPipelineStageFlags2 stage_after,
                    VkAccessFlags2 access_after) {
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = stage_before;
  barrier.srcAccessMask = access_before;
  barrier.dstStageMask = stage_after;
  barrier.dstAccessMask = access_after;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

}  // namespace stickslip
