// Buffers and images with their memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "app/render/device.h"

namespace stickslip {

/// Whether other drivers may import a buffer's memory, and whether the driver then requires a dedicated
/// allocation.
enum class Export { none, allowed, dedicated };

/// A buffer the host writes each frame (mapped) or once (through a staging copy).
class GpuBuffer {
 public:
  GpuBuffer() = default;

  static GpuBuffer mapped(const Device& device, std::size_t bytes, VkBufferUsageFlags usage);
  /// Mapped for reading by the host.
  static GpuBuffer readback(const Device& device, std::size_t bytes);
  static GpuBuffer device_local(const Device& device, std::size_t bytes, VkBufferUsageFlags usage,
                                Export exported = Export::none);
  /// Device memory filled with `data`; a buffer is never empty, so that it can always be bound.
  template <class T>
  static GpuBuffer with_data(const Device& device, const std::vector<T>& data, VkBufferUsageFlags usage) {
    return filled(device, std::as_bytes(std::span(data)), usage);
  }

  VkBuffer handle() const { return buffer_; }
  std::size_t size() const { return size_; }
  VkDeviceMemory memory() const { return memory_; }
  /// Size of the memory, at least that of the buffer.
  std::size_t allocated() const { return allocated_; }
  /// Of a mapped buffer.
  const std::byte* data() const { return mapped_; }
  std::byte* data() { return mapped_; }
  /// The host reads the buffer at the speed of its own memory.
  bool host_cached() const { return host_cached_; }
  template <class T>
  void write(std::span<const T> values) {
    std::ranges::copy(std::as_bytes(values), mapped_);
  }

 private:
  GpuBuffer(const Device& device, std::size_t bytes, VkBufferUsageFlags usage, VkMemoryPropertyFlags required,
            VkMemoryPropertyFlags preferred, Export exported = Export::none);
  static GpuBuffer filled(const Device& device, std::span<const std::byte> data, VkBufferUsageFlags usage);

  BufferHandle buffer_;
  Memory memory_;
  std::byte* mapped_ = nullptr;
  std::size_t size_ = 0, allocated_ = 0;
  bool host_cached_ = false;
};

struct ImageInfo {
  VkExtent2D size{1, 1};
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkImageUsageFlags usage = 0;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
};

/// A 2D image in device memory with a view of all of it.
class GpuImage {
 public:
  GpuImage() = default;
  GpuImage(const Device& device, const ImageInfo& info);

  VkImage handle() const { return image_; }
  VkImageView view() const { return view_; }
  VkExtent2D size() const { return size_; }

 private:
  ImageHandle image_;
  Memory memory_;
  ImageView view_;
  VkExtent2D size_{0, 0};
};

ImageView make_view(VkDevice device, VkImage image, VkFormat format);
VkImageAspectFlags aspect_of(VkFormat format);

/// One side of a barrier.
struct Access {
  VkPipelineStageFlags2 stage;
  VkAccessFlags2 access;
  VkImageLayout layout;
};
void image_barrier(VkCommandBuffer commands, VkImage image, VkFormat format, const Access& before,
                   const Access& after);
void memory_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 stage_before,
                    VkAccessFlags2 access_before, VkPipelineStageFlags2 stage_after,
                    VkAccessFlags2 access_after);

}  // namespace stickslip
