#include "app/render/pipelines.h"

#include <array>
#include <vector>

#include "app/render/shader_code.h"
#include "shaders/shared/frame_data.h"

namespace stickslip {

PipelineLayouts::PipelineLayouts(const Device& device) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  const auto add = [&](int binding, VkDescriptorType type) {
    bindings.push_back({static_cast<std::uint32_t>(binding), type, 1, kAllStages, nullptr});
  };
  add(shared::kFrameBinding, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
  for (int b = shared::kPositionBinding; b <= shared::kGlyphBinding; ++b)
    add(b, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
  add(shared::kRodBinding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
  add(shared::kHeatBinding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
  for (int b = shared::kSunMapBinding; b <= shared::kSkyMapBinding; ++b)
    add(b, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER);
  VkDescriptorSetLayoutCreateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set_info.bindingCount = static_cast<std::uint32_t>(bindings.size());
  set_info.pBindings = bindings.data();
  set = make<DescriptorSetLayout, vkCreateDescriptorSetLayout>(device.handle(), set_info,
                                                               "vkCreateDescriptorSetLayout");

  const VkPushConstantRange push{kAllStages, 0, sizeof(shared::DepthPush)};
  const VkDescriptorSetLayout sets = set.get();
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.setLayoutCount = 1;
  info.pSetLayouts = &sets;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &push;
  pipeline = make<PipelineLayout, vkCreatePipelineLayout>(device.handle(), info, "vkCreatePipelineLayout");
}

namespace {

using shader_code::Words;

/// Parameters that differ between the graphics pipelines.
struct Recipe {
  Words vertex, fragment;  // no fragment shader: depth only
  VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  VkFormat color = VK_FORMAT_UNDEFINED;
  VkFormat depth = VK_FORMAT_UNDEFINED;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  bool blend = false;
  float slope_bias = 0, constant_bias = 0;
  bool whole = false;
  int tube_sides = 0;
};

/// Constants of light.glsl, surface.glsl, tube.glsl and hair.frag, in the order of their ids.
struct ShaderConstants {
  std::int32_t sun_taps;
  VkBool32 soft_sun;
  std::int32_t sky_views;
  VkBool32 whole;
  std::int32_t tube_sides;
  std::int32_t samples;
};

class Builder {
 public:
  Builder(const Device& device, const PipelineLayouts& layouts, const QualitySettings& quality)
      : device_(device), layouts_(layouts), constants_{static_cast<std::int32_t>(quality.sun_taps),
                                                       quality.soft_sun,
                                                       quality.sky_views,
                                                       VK_FALSE,
                                                       0,
                                                       static_cast<std::int32_t>(quality.samples)} {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Pipeline compute(Words code) const {
    const ShaderModule module = make_module(code);
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, module, nullptr);
    info.layout = layouts_.pipeline;
    VkPipeline pipeline = VK_NULL_HANDLE;
    check(vkCreateComputePipelines(device_.handle(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateComputePipelines");
    return Pipeline(device_.handle(), pipeline);
  }

  Pipeline graphics(const Recipe& recipe) const;

 private:
  static constexpr std::array<VkSpecializationMapEntry, 6> kEntries = {{
      {0, offsetof(ShaderConstants, sun_taps), sizeof(std::int32_t)},
      {1, offsetof(ShaderConstants, soft_sun), sizeof(VkBool32)},
      {2, offsetof(ShaderConstants, sky_views), sizeof(std::int32_t)},
      {3, offsetof(ShaderConstants, whole), sizeof(VkBool32)},
      {4, offsetof(ShaderConstants, tube_sides), sizeof(std::int32_t)},
      {5, offsetof(ShaderConstants, samples), sizeof(std::int32_t)},
  }};

  ShaderModule make_module(Words code) const {
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = code.size_bytes();
    info.pCode = code.data();
    return make<ShaderModule, vkCreateShaderModule>(device_.handle(), info, "vkCreateShaderModule");
  }
  static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which, VkShaderModule module,
                                               const VkSpecializationInfo* special) {
    VkPipelineShaderStageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage = which;
    info.module = module;
    info.pName = "main";
    info.pSpecializationInfo = special;
    return info;
  }

  const Device& device_;
  const PipelineLayouts& layouts_;
  ShaderConstants constants_;  // of the quality
};

VkPipelineColorBlendAttachmentState blend_state(bool blend, bool writes) {
  VkPipelineColorBlendAttachmentState state{};
  state.blendEnable = blend;
  state.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
  state.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  state.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;  // an opaque picture stays opaque
  state.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  if (!writes) return state;
  state.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT |
                         VK_COLOR_COMPONENT_A_BIT;
  return state;
}

Pipeline Builder::graphics(const Recipe& recipe) const {
  const ShaderModule vertex = make_module(recipe.vertex);
  ShaderModule fragment;
  ShaderConstants constants = constants_;
  constants.whole = recipe.whole ? VK_TRUE : VK_FALSE;
  constants.tube_sides = recipe.tube_sides;
  const VkSpecializationInfo special{static_cast<std::uint32_t>(kEntries.size()), kEntries.data(),
                                     sizeof(constants), &constants};
  std::vector<VkPipelineShaderStageCreateInfo> stages = {stage(VK_SHADER_STAGE_VERTEX_BIT, vertex, &special)};
  if (!recipe.fragment.empty()) {
    fragment = make_module(recipe.fragment);
    stages.push_back(stage(VK_SHADER_STAGE_FRAGMENT_BIT, fragment, &special));
  }
  VkPipelineVertexInputStateCreateInfo input{};
  input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
  VkPipelineInputAssemblyStateCreateInfo assembly{};
  assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
  assembly.topology = recipe.topology;
  VkPipelineViewportStateCreateInfo viewport{};
  viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
  viewport.viewportCount = viewport.scissorCount = 1;
  VkPipelineRasterizationStateCreateInfo raster{};
  raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
  raster.polygonMode = VK_POLYGON_MODE_FILL;
  raster.frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE;
  raster.depthBiasEnable = recipe.slope_bias != 0 || recipe.constant_bias != 0;
  raster.depthBiasConstantFactor = recipe.constant_bias;
  raster.depthBiasSlopeFactor = recipe.slope_bias;
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo multisample{};
  multisample.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
  multisample.rasterizationSamples = recipe.samples;
  VkPipelineDepthStencilStateCreateInfo depth{};
  depth.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
  depth.depthTestEnable = VK_TRUE;
  const VkPipelineColorBlendAttachmentState attachment = blend_state(recipe.blend, !recipe.fragment.empty());
  VkPipelineColorBlendStateCreateInfo blend{};
  blend.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
  blend.attachmentCount = recipe.color == VK_FORMAT_UNDEFINED ? 0 : 1;
  blend.pAttachments = &attachment;
  constexpr std::array<VkDynamicState, 5> kDynamic = {
      VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR, VK_DYNAMIC_STATE_CULL_MODE,
      VK_DYNAMIC_STATE_DEPTH_COMPARE_OP, VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE};
  VkPipelineDynamicStateCreateInfo dynamic{};
  dynamic.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
  dynamic.dynamicStateCount = static_cast<std::uint32_t>(kDynamic.size());
  dynamic.pDynamicStates = kDynamic.data();
  VkPipelineRenderingCreateInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
  rendering.colorAttachmentCount = blend.attachmentCount;
  rendering.pColorAttachmentFormats = &recipe.color;
  rendering.depthAttachmentFormat = recipe.depth;

  VkGraphicsPipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
  info.pNext = &rendering;
  info.stageCount = static_cast<std::uint32_t>(stages.size());
  info.pStages = stages.data();
  info.pVertexInputState = &input;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &multisample;
  info.pDepthStencilState = &depth;
  info.pColorBlendState = &blend;
  info.pDynamicState = &dynamic;
  info.layout = layouts_.pipeline;
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(vkCreateGraphicsPipelines(device_.handle(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateGraphicsPipelines");
  return Pipeline(device_.handle(), pipeline);
}

}  // namespace

Pipelines::Pipelines(const Device& device, const PipelineLayouts& layouts, VkFormat color,
                     const QualitySettings& quality) {
  const Builder build(device, layouts, quality);
  const auto on_screen = [&](Words vertex, Words fragment, bool blend,
                             VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             bool whole = false) {
    return build.graphics({.vertex = vertex,
                           .fragment = fragment,
                           .topology = topology,
                           .color = color,
                           .depth = kDepthFormat,
                           .samples = quality.samples,
                           .blend = blend,
                           .whole = whole,
                           .tube_sides = quality.tube_sides});
  };
  using namespace shader_code;
  normals = build.compute(normals_comp());
  light_depth =
      build.graphics({.vertex = depth_vert(), .fragment = {}, .depth = kLightMapFormat, .slope_bias = 1.5f});
  const auto rods_to_light = [&](int sides) {
    return build.graphics({.vertex = tube_depth_vert(),
                           .fragment = {},
                           .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
                           .depth = kLightMapFormat,
                           .slope_bias = 1.5f,
                           .tube_sides = sides});
  };
  tube_light_depth = rods_to_light(kTubeSidesToLight);
  hair_light_depth = rods_to_light(1);
  // Slightly behind the surface drawn later, so that rounding differences of two shaders hide nothing. Depth
  // is reversed.
  scene_depth = build.graphics({.vertex = depth_vert(),
                                .fragment = {},
                                .color = color,
                                .depth = kDepthFormat,
                                .samples = quality.samples,
                                .constant_bias = -8});
  for (const bool is_whole : {false, true}) {
    BodyPipelines& to = is_whole ? whole_bodies : bodies;
    const auto body = [&](Words vertex, VkPrimitiveTopology topology, Words fragment = mesh_frag()) {
      return on_screen(vertex, fragment, false, topology, is_whole);
    };
    to.mesh = body(mesh_vert(), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
    to.tube = body(tube_vert(), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
    to.tube_cap = body(tube_cap_vert(), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
    to.hair = body(hair_vert(), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, hair_frag());
  }
  plane = on_screen(plane_vert(), plane_frag(), true, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
  sky = on_screen(sky_vert(), sky_frag(), false);
  wire = on_screen(wire_vert(), wire_frag(), true, VK_PRIMITIVE_TOPOLOGY_LINE_LIST);
  glyph = on_screen(glyph_vert(), glyph_frag(), true, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
}

}  // namespace stickslip
