// Every pipeline of the renderer. They share one descriptor set layout and one range of push constants.
#pragma once

#include "app/render/quality.h"
#include "app/render/resources.h"

namespace stickslip {

constexpr VkFormat kDepthFormat = VK_FORMAT_D32_SFLOAT;  // reversed: 1 near, 0 at infinity
constexpr VkFormat kLightMapFormat = VK_FORMAT_D16_UNORM;
constexpr VkShaderStageFlags kAllStages =
    VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT;

/// Pipeline layouts, with the lifetime of the device.
struct PipelineLayouts {
  explicit PipelineLayouts(const Device& device);
  DescriptorSetLayout set;
  PipelineLayout pipeline;
};

struct BodyPipelines {
  Pipeline mesh, tube, tube_cap, hair;
};

/// The pipelines for one colour format and quality.
struct Pipelines {
  Pipelines(const Device& device, const PipelineLayouts& layouts, VkFormat color,
            const QualitySettings& quality);
  Pipeline normals;  // compute
  Pipeline light_depth, tube_light_depth, hair_light_depth, scene_depth;
  /// Of bodies of which nothing is left out and that have colours of their own: without code for the rest, a
  /// software renderer takes a quarter less.
  BodyPipelines whole_bodies;
  BodyPipelines bodies;
  Pipeline plane, sky, wire, glyph;
};

}  // namespace stickslip
