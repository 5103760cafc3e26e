// Dear ImGui's Vulkan side: draws the user interface over the finished picture.
#pragma once

#include <vector>

#include "app/render/swapchain.h"

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

  /// Call after the swapchain was recreated.
  void set_images(const Swapchain& swapchain);
  /// The image must be in COLOR_ATTACHMENT_OPTIMAL and remains there.
  void record(VkCommandBuffer commands, std::uint32_t image, ImDrawData* ui) const;

 private:
  const Device& device_;
  RenderPass pass_;
  DescriptorPool pool_;
  VkExtent2D size_{};
  std::vector<Framebuffer> framebuffers_;
};

}  // namespace stickslip
