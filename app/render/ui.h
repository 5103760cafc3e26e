// Dear ImGui's Vulkan side: draws the user interface over the finished picture.
#pragma once

#include <span>
#include <vector>

#include "app/render/device.h"

struct ImDrawData;

namespace stickslip {

/// What a window shows over the scene; each may be null.
struct UiLayers {
  ImDrawData* panels = nullptr;
  ImDrawData* marks = nullptr;  // above the panels, and not part of pictures of the window
};

class Ui {
 public:
  /// The ImGui context must exist already.
  Ui(const Device& device, VkFormat format);
  ~Ui();
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  /// Call after the window's images were recreated.
  void set_images(std::span<const VkImageView> views, VkExtent2D size);
  /// `image`: its number in set_images. It must be in COLOR_ATTACHMENT_OPTIMAL and remains there.
  void record(VkCommandBuffer commands, std::uint32_t image, ImDrawData* ui) const;

 private:
  const Device& device_;
  RenderPass pass_;
  DescriptorPool pool_;
  VkExtent2D size_{};
  std::vector<Framebuffer> framebuffers_;
};

}  // namespace stickslip
