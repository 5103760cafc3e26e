// Render targets of a picture, and the light maps.
#pragma once

#include "app/render/pipelines.h"

namespace stickslip {

/// Colour and depth of one picture size. Multisampled colour is resolved into `output`; a swapchain image may
/// replace `output`.
class Targets {
 public:
  Targets() = default;
  Targets(const Device& device, VkExtent2D size, VkFormat format, VkSampleCountFlagBits samples);

  VkExtent2D size() const { return size_; }
  bool multisampled() const { return multisample_.handle() != VK_NULL_HANDLE; }
  const GpuImage& multisample() const { return multisample_; }
  const GpuImage& depth() const { return depth_; }

 private:
  VkExtent2D size_{0, 0};
  GpuImage multisample_, depth_;
};

/// Depth seen from the sun and from the sky's samples.
struct LightMaps {
  LightMaps(const Device& device, const QualitySettings& quality);
  GpuImage sun, sky;
  Sampler compare;  // share of the four surrounding texels that are farther than the reference
  Sampler plain;
};

}  // namespace stickslip
