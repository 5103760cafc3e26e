#include "app/render/swapchain.h"

#include <algorithm>

#include "app/render/renderer.h"
#include "app/render/resources.h"

namespace stickslip {

VkSurfaceFormatKHR choose_surface_format(const Device& device) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceSurfaceFormatsKHR(device.physical(), device.surface(), &count, nullptr);
  std::vector<VkSurfaceFormatKHR> formats(count);
  vkGetPhysicalDeviceSurfaceFormatsKHR(device.physical(), device.surface(), &count, formats.data());
  // The shaders and ImGui output sRGB values, so the format must not convert again.
  for (const VkFormat wanted : {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM})
    for (const VkSurfaceFormatKHR& format : formats)
      if (format.format == wanted) return format;
  throw NoDeviceError("the window's surface has no 8-bit UNORM format");
}

Swapchain::Swapchain(const Device& device, VkExtent2D size, VkSwapchainKHR old) : device_(device) {
  VkSurfaceCapabilitiesKHR can;
  check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device.physical(), device.surface(), &can),
        "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
  const VkSurfaceFormatKHR format = choose_surface_format(device);
  size_ = can.currentExtent.width != UINT32_MAX
              ? can.currentExtent
              : VkExtent2D{std::clamp(size.width, can.minImageExtent.width, can.maxImageExtent.width),
                           std::clamp(size.height, can.minImageExtent.height, can.maxImageExtent.height)};
  VkSwapchainCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR;
  info.surface = device.surface();
  info.minImageCount = can.minImageCount + 1;
  if (can.maxImageCount > 0) info.minImageCount = std::min(info.minImageCount, can.maxImageCount);
  info.imageFormat = format.format;
  info.imageColorSpace = format.colorSpace;
  info.imageExtent = size_;
  info.imageArrayLayers = 1;
  info.imageUsage =
      VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | (can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
  info.imageSharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.preTransform = can.currentTransform;
  info.compositeAlpha = (can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR)
                            ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                            : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  info.oldSwapchain = old;
  swapchain_ = make<SwapchainHandle, vkCreateSwapchainKHR>(device.handle(), info, "vkCreateSwapchainKHR");

  std::uint32_t count = 0;
  check(vkGetSwapchainImagesKHR(device.handle(), swapchain_, &count, nullptr), "vkGetSwapchainImagesKHR");
  images_.resize(count);
  check(vkGetSwapchainImagesKHR(device.handle(), swapchain_, &count, images_.data()),
        "vkGetSwapchainImagesKHR");
  VkSemaphoreCreateInfo semaphore{};
  semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  for (const VkImage image : images_) {
    views_.push_back(make_view(device.handle(), image, format.format));
    rendered_.push_back(make<Semaphore, vkCreateSemaphore>(device.handle(), semaphore, "vkCreateSemaphore"));
  }
}

std::optional<std::uint32_t> Swapchain::acquire(VkSemaphore ready) const {
  std::uint32_t index = 0;
  const VkResult result =
      vkAcquireNextImageKHR(device_.handle(), swapchain_, UINT64_MAX, ready, VK_NULL_HANDLE, &index);
  if (result == VK_ERROR_OUT_OF_DATE_KHR) return std::nullopt;
  check(result, "vkAcquireNextImageKHR");
  return index;
}

bool Swapchain::present(std::uint32_t index) const {
  const VkSwapchainKHR swapchain = swapchain_;
  const VkSemaphore wait = rendered_[index];
  VkPresentInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR;
  info.waitSemaphoreCount = 1;
  info.pWaitSemaphores = &wait;
  info.swapchainCount = 1;
  info.pSwapchains = &swapchain;
  info.pImageIndices = &index;
  const VkResult result = vkQueuePresentKHR(device_.queue(), &info);
  if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR) return false;
  check(result, "vkQueuePresentKHR");
  return true;
}

}  // namespace stickslip
