// The swapchain images of the window.
#pragma once

#include <optional>
#include <vector>

#include "app/render/device.h"

namespace stickslip {

class Swapchain {
 public:
  /// The window's surface must support images of `size`. Throws RenderError.
  Swapchain(const Device& device, VkExtent2D size, VkSwapchainKHR old = VK_NULL_HANDLE);

  /// Index of the next image, signalling `ready`; empty when the swapchain no longer fits the window.
  std::optional<std::uint32_t> acquire(VkSemaphore ready) const;
  /// Presents the image once `rendered(index)` is signalled; false when the swapchain must be recreated.
  bool present(std::uint32_t index) const;

  VkSwapchainKHR handle() const { return swapchain_; }
  VkExtent2D size() const { return size_; }
  VkImage image(std::uint32_t index) const { return images_[index]; }
  VkImageView view(std::uint32_t index) const { return views_[index]; }
  std::vector<VkImageView> views() const { return {views_.begin(), views_.end()}; }
  VkSemaphore rendered(std::uint32_t index) const { return rendered_[index]; }

 private:
  const Device& device_;
  SwapchainHandle swapchain_;
  VkExtent2D size_{};
  std::vector<VkImage> images_;
  std::vector<ImageView> views_;
  std::vector<Semaphore> rendered_;
};

/// The 8-bit UNORM format of the surface. Throws NoDeviceError when it has none.
VkSurfaceFormatKHR choose_surface_format(const Device& device);

}  // namespace stickslip
