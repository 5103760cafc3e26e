#include "app/render/targets.h"

#include "app/render/light_view.h"

namespace stickslip {

Targets::Targets(const Device& device, VkExtent2D size, VkFormat format, VkSampleCountFlagBits samples)
    : size_(size),
      depth_(device, {size, kDepthFormat, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, samples}) {
  if (samples != VK_SAMPLE_COUNT_1_BIT)
    multisample_ = GpuImage(device, {size, format, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, samples});
}

namespace {

GpuImage make_map(const Device& device, std::uint32_t size) {
  return GpuImage(device, {{size, size},
                           kLightMapFormat,
                           VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                           VK_SAMPLE_COUNT_1_BIT});
}

Sampler make_sampler(const Device& device, bool compare) {
  VkSamplerCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  info.magFilter = info.minFilter = compare ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  info.addressModeU = info.addressModeV = info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  info.compareEnable = compare;
  info.compareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
  return make<Sampler, vkCreateSampler>(device.handle(), info, "vkCreateSampler");
}

}  // namespace

LightMaps::LightMaps(const Device& device, const QualitySettings& quality)
    : sun(make_map(device, quality.sun_map_size)),
      sky(make_map(device,
                   quality.sky_tile_size * static_cast<std::uint32_t>(sky_tiles_per_row(quality.sky_views)))),
      compare(make_sampler(device, true)),
      plain(make_sampler(device, false)) {}

}  // namespace stickslip
