// The passes of a picture, in order: normals, maps of light, the scene itself.
#pragma once

#include "app/render/overlays.h"
#include "app/render/view_slot.h"

namespace stickslip {

/// Inputs of the passes.
struct PassInputs {
  const PipelineLayouts& layouts;
  const Pipelines& pipelines;
  const QualitySettings& quality;
  const SceneBuffers& scene;
  const LightRig& rig;
  const LightMaps& maps;
  VkCommandBuffer commands;
  const ViewSlot& view;
  VkFormat color_format;
};

/// An image that receives the finished scene.
struct Output {
  VkImage image;
  VkImageView view;
};

// Declares draw_<flag> for the rows of overlays.h that have a pass, recorded within the scene's pass.
#define STICKSLIP_NONE(...)
#define STICKSLIP_PASS(flag, ...) void draw_##flag(const PassInputs& in);
STICKSLIP_OVERLAYS(STICKSLIP_NONE, STICKSLIP_NONE, STICKSLIP_PASS)
#undef STICKSLIP_PASS
#undef STICKSLIP_NONE

void record_normals(const PassInputs& in);
void record_light_maps(const PassInputs& in);
/// Begins a picture: discards what is in the image. Leaves it black and in COLOR_ATTACHMENT_OPTIMAL.
void record_clear(VkCommandBuffer commands, VkFormat format, VkExtent2D size, const Output& output,
                  const VkClearColorValue& to);
/// Draws the pane's part of the image, which begins and stays in COLOR_ATTACHMENT_OPTIMAL.
void record_scene(const PassInputs& in, const Pane& pane, const Targets& targets, const Output& output);

/// How an image is used before or after a barrier.
Access color_written();
Access copied_from();

}  // namespace stickslip
