// Owners for Vulkan handles, and the error check for every call.
#pragma once

#include <vulkan/vulkan.h>

#include <string>
#include <utility>

namespace stickslip {

/// Source location of a call. clang 14 cannot read std::source_location from this standard library.
struct CallPlace {
  const char* file;
  unsigned line;
  static constexpr CallPlace current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

/// Throws RenderError with call, result and place when `result` is an error.
void check(VkResult result, const char* call, CallPlace place = CallPlace::current());
std::string result_name(VkResult result);

/// Owns a child object of a device.
template <class Handle, auto destroy>
class Owned {
 public:
  Owned() = default;
  Owned(VkDevice device, Handle handle) : device_(device), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, Handle(VK_NULL_HANDLE))) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != VK_NULL_HANDLE) destroy(device_, handle_, nullptr);
  }
  Handle get() const { return handle_; }
  operator Handle() const { return handle_; }

 private:
  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = VK_NULL_HANDLE;
};

using DescriptorPool = Owned<VkDescriptorPool, vkDestroyDescriptorPool>;
using CommandPool = Owned<VkCommandPool, vkDestroyCommandPool>;
using DescriptorSetLayout = Owned<VkDescriptorSetLayout, vkDestroyDescriptorSetLayout>;
using Fence = Owned<VkFence, vkDestroyFence>;
using Framebuffer = Owned<VkFramebuffer, vkDestroyFramebuffer>;
using ImageHandle = Owned<VkImage, vkDestroyImage>;
using ImageView = Owned<VkImageView, vkDestroyImageView>;
using BufferHandle = Owned<VkBuffer, vkDestroyBuffer>;
using Memory = Owned<VkDeviceMemory, vkFreeMemory>;
using Pipeline = Owned<VkPipeline, vkDestroyPipeline>;
using PipelineLayout = Owned<VkPipelineLayout, vkDestroyPipelineLayout>;
using RenderPass = Owned<VkRenderPass, vkDestroyRenderPass>;
using Sampler = Owned<VkSampler, vkDestroySampler>;
using Semaphore = Owned<VkSemaphore, vkDestroySemaphore>;
using ShaderModule = Owned<VkShaderModule, vkDestroyShaderModule>;
using SwapchainHandle = Owned<VkSwapchainKHR, vkDestroySwapchainKHR>;

/// Calls `create(device, &info, nullptr, &handle)` and returns the handle in its owner.
template <class Owner, auto create, class Info>
Owner make(VkDevice device, const Info& info, const char* call, CallPlace place = CallPlace::current()) {
  decltype(std::declval<Owner>().get()) handle = VK_NULL_HANDLE;
  check(create(device, &info, nullptr, &handle), call, place);
  return Owner(device, handle);
}

}  // namespace stickslip
