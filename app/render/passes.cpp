#include "app/render/passes.h"

#include <algorithm>
#include <cmath>

namespace stickslip {

Access color_written() {
  return {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
          VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT,
          VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
}
Access copied_from() {
  return {VK_PIPELINE_STAGE_2_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
          VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
}
namespace {

// Waits for all earlier access: all frames share the images and follow each other on one queue.
Access undefined() {
  return {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT, VK_IMAGE_LAYOUT_UNDEFINED};
}

constexpr VkPipelineStageFlags2 kDepthTests =
    VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;

Access depth_written() {
  return {kDepthTests,
          VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT,
          VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
}
Access depth_sampled() {
  return {VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
          VK_ACCESS_2_SHADER_READ_BIT, VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL};
}

VkRenderingAttachmentInfo attachment(VkImageView view, VkImageLayout layout, VkAttachmentStoreOp store) {
  VkRenderingAttachmentInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  info.imageView = view;
  info.imageLayout = layout;
  info.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  info.storeOp = store;
  return info;
}

void set_area(VkCommandBuffer commands, VkOffset2D offset, VkExtent2D size) {
  const VkViewport viewport{static_cast<float>(offset.x),
                            static_cast<float>(offset.y),
                            static_cast<float>(size.width),
                            static_cast<float>(size.height),
                            0,
                            1};
  const VkRect2D scissor{offset, size};
  vkCmdSetViewport(commands, 0, 1, &viewport);
  vkCmdSetScissor(commands, 0, 1, &scissor);
}

void bind(const PassInputs& in, VkPipelineBindPoint point, VkPipeline pipeline) {
  const VkDescriptorSet set = in.view.set();
  vkCmdBindPipeline(in.commands, point, pipeline);
  vkCmdBindDescriptorSets(in.commands, point, in.layouts.pipeline, 0, 1, &set, 0, nullptr);
}

template <class Push>
void push(const PassInputs& in, const Push& values) {
  vkCmdPushConstants(in.commands, in.layouts.pipeline, kAllStages, 0, sizeof(values), &values);
}

/// With so many triangles, hidden ones cost more than visible ones.
bool is_crowded(const SceneBuffers& scene) {
  constexpr std::uint32_t kMany = 20000;
  return scene.index_count >= 3 * kMany;
}

/// Culls back faces, which closed surfaces hide. Other surfaces, and small scenes, are drawn from both sides.
bool culls_insides(const SceneBuffers& scene) { return is_crowded(scene) && scene.closed(); }

void draw_tubes(const PassInputs& in, VkPipeline pipeline, int sides) {
  if (in.scene.tube_count() == 0) return;
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  vkCmdSetCullMode(in.commands, VK_CULL_MODE_NONE);
  const auto vertices = static_cast<std::uint32_t>(2 * (sides + 1));
  vkCmdDraw(in.commands, vertices, in.scene.tube_count(), 0, 0);
}

void draw_hair(const PassInputs& in, VkPipeline pipeline) {
  if (in.scene.hair_count == 0) return;
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
  vkCmdSetCullMode(in.commands, VK_CULL_MODE_NONE);
  vkCmdDraw(in.commands, shared::kRibbonVertices, in.scene.hair_count, 0, in.scene.tube_count());
}

void draw_from_light(const PassInputs& in, const LightView& light, VkOffset2D offset, std::uint32_t size) {
  const VkCommandBuffer commands = in.commands;
  set_area(commands, offset, {size, size});
  if (in.scene.index_count > 0) {
    bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, in.pipelines.light_depth);
    push(in, shared::DepthPush{light.clip});
    // Light projections are not flipped like Vulkan's camera projection: the winding of front faces is
    // reversed.
    vkCmdSetCullMode(commands, culls_insides(in.scene) ? VK_CULL_MODE_FRONT_BIT : VK_CULL_MODE_NONE);
    vkCmdBindIndexBuffer(commands, in.scene.triangles.handle(), 0, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands, in.scene.index_count, 1, 0, 0, 0);
  }
  if (in.scene.rod_count == 0) return;
  push(in, shared::DepthPush{light.clip});
  draw_tubes(in, in.pipelines.tube_light_depth, kTubeSidesToLight);
  draw_hair(in, in.pipelines.hair_light_depth);
}

/// Draws the surface into a map with `draw`, once or once per tile.
template <class Draw>
void record_map(const PassInputs& in, const GpuImage& map, Draw draw) {
  const VkCommandBuffer commands = in.commands;
  image_barrier(commands, map.handle(), kLightMapFormat, undefined(), depth_written());
  VkRenderingAttachmentInfo depth =
      attachment(map.view(), VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, VK_ATTACHMENT_STORE_OP_STORE);
  depth.clearValue.depthStencil.depth = 1;
  VkRenderingInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  rendering.renderArea = {{0, 0}, map.size()};
  rendering.layerCount = 1;
  rendering.pDepthAttachment = &depth;
  vkCmdBeginRendering(commands, &rendering);
  vkCmdSetDepthCompareOp(commands, VK_COMPARE_OP_LESS);
  vkCmdSetDepthWriteEnable(commands, VK_TRUE);
  draw();
  vkCmdEndRendering(commands);
  image_barrier(commands, map.handle(), kLightMapFormat, depth_written(), depth_sampled());
}

/// Where many bodies occlude each other, most shading would be overwritten. A cheap depth pass limits shading
/// to the visible surface.
void draw_depth_first(const PassInputs& in) {
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, in.pipelines.scene_depth);
  push(in, shared::DepthPush{in.view.frame().view_projection});
  vkCmdBindIndexBuffer(in.commands, in.scene.triangles.handle(), 0, VK_INDEX_TYPE_UINT32);
  vkCmdDrawIndexed(in.commands, in.scene.index_count, 1, 0, 0, 0);
}

/// Whether parts of surfaces are left out, so that others behind them show.
bool shows_insides(const shared::FrameData& frame) {
  return frame.x_ray.x < 1 || glm::vec3(frame.clip) != glm::vec3(0);
}

const BodyPipelines& body_pipelines(const PassInputs& in) {
  const shared::FrameData& frame = in.view.frame();
  const bool has_scale = frame.sky_layout.y > 0;
  return shows_insides(frame) || has_scale ? in.pipelines.bodies : in.pipelines.whole_bodies;
}

void draw_bodies(const PassInputs& in) {
  if (in.scene.index_count == 0) return;
  const VkCommandBuffer commands = in.commands;
  const bool opens = shows_insides(in.view.frame());
  vkCmdSetCullMode(commands, culls_insides(in.scene) && !opens ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_NONE);
  if (is_crowded(in.scene) && !opens) draw_depth_first(in);
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, body_pipelines(in).mesh);
  vkCmdBindIndexBuffer(commands, in.scene.indices.handle(), 0, VK_INDEX_TYPE_UINT32);
  vkCmdDrawIndexed(commands, in.scene.index_count, 1, 0, 0, 0);
  vkCmdSetCullMode(commands, VK_CULL_MODE_NONE);
}

void draw_rods(const PassInputs& in) {
  if (in.scene.rod_count == 0) return;
  draw_tubes(in, body_pipelines(in).tube, in.quality.tube_sides);
  draw_hair(in, body_pipelines(in).hair);
  if (in.scene.rod_end_count == 0) return;
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, body_pipelines(in).tube_cap);
  vkCmdDraw(in.commands, shared::kTubeCapVertices, in.scene.rod_end_count, 0, in.scene.rod_count);
}

/// The ground, which is visible from above only, or the tilted planes.
void draw_planes(const PassInputs& in, bool ground, const Vec3f& eye) {
  for (const PlaneShape& plane : in.scene.planes()) {
    if (plane.ground != ground || (ground && eye[1] < plane.point[1])) continue;
    bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, in.pipelines.plane);
    push(in, make_plane_push(plane, in.view.frame()));
    vkCmdDraw(in.commands, 4, 1, 0, 0);
  }
}

VkRect2D area_of(const Pane& pane) {
  return {{pane.x, pane.y},
          {static_cast<std::uint32_t>(pane.width), static_cast<std::uint32_t>(pane.height)}};
}

VkRect2D uncovered(const Pane& pane) {
  const FrameView& view = pane.view;
  const auto width = static_cast<float>(pane.width);
  const auto left = static_cast<std::int32_t>(std::floor(std::clamp(view.left, 0.f, 1.f) * width));
  const auto right = static_cast<std::int32_t>(std::ceil(std::clamp(view.right, view.left, 1.f) * width));
  return {{pane.x + left, pane.y},
          {static_cast<std::uint32_t>(right - left), static_cast<std::uint32_t>(pane.height)}};
}

/// First the parts that bodies hide, faintly, then the visible parts.
void draw_glyphs(const PassInputs& in) {
  if (in.view.glyph_count() == 0) return;
  const VkCommandBuffer commands = in.commands;
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, in.pipelines.glyph);
  for (const bool hidden : {true, false}) {
    vkCmdSetDepthCompareOp(commands, hidden ? VK_COMPARE_OP_LESS : VK_COMPARE_OP_GREATER_OR_EQUAL);
    push(in, shared::GlyphPush{{hidden ? 0.55f : 1.f, 0, 0, 0}});
    vkCmdDraw(commands, 4, in.view.glyph_count(), 0, 0);
  }
}

void draw_overlay_passes(const PassInputs& in, const Overlays& overlays) {
#define STICKSLIP_NONE(...)
#define STICKSLIP_PASS(flag, ...) \
  if (overlays.flag) draw_##flag(in);
  STICKSLIP_OVERLAYS(STICKSLIP_NONE, STICKSLIP_NONE, STICKSLIP_PASS)
#undef STICKSLIP_PASS
#undef STICKSLIP_NONE
}

}  // namespace

void draw_wireframe(const PassInputs& in) {
  if (in.scene.edge_index_count == 0) return;
  bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, in.pipelines.wire);
  vkCmdBindIndexBuffer(in.commands, in.scene.edges.handle(), 0, VK_INDEX_TYPE_UINT32);
  vkCmdDrawIndexed(in.commands, in.scene.edge_index_count, 1, 0, 0, 0);
}

void record_normals(const PassInputs& in) {
  if (in.scene.vertex_count == 0) return;
  const VkCommandBuffer commands = in.commands;
  bind(in, VK_PIPELINE_BIND_POINT_COMPUTE, in.pipelines.normals);
  push(in, in.scene.vertex_count);
  vkCmdDispatch(commands, (in.scene.vertex_count + 63) / 64, 1, 1);
  memory_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT,
                 VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT);
}

void record_light_maps(const PassInputs& in) {
  record_map(in, in.maps.sun, [&] { draw_from_light(in, in.rig.sun, {0, 0}, in.quality.sun_map_size); });
  record_map(in, in.maps.sky, [&] {
    const int tiles = sky_tiles_per_row(in.quality.sky_views);
    const auto size = static_cast<int>(in.quality.sky_tile_size);
    for (int i = 0; i < in.quality.sky_views; ++i)
      draw_from_light(in, in.rig.sky[static_cast<std::size_t>(i)], {i % tiles * size, i / tiles * size},
                      in.quality.sky_tile_size);
  });
}

void record_clear(VkCommandBuffer commands, VkFormat format, VkExtent2D size, const Output& output,
                  const VkClearColorValue& to) {
  image_barrier(commands, output.image, format, undefined(), color_written());
  VkRenderingAttachmentInfo color =
      attachment(output.view, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_ATTACHMENT_STORE_OP_STORE);
  color.clearValue.color = to;
  VkRenderingInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  rendering.renderArea = {{0, 0}, size};
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &color;
  vkCmdBeginRendering(commands, &rendering);
  vkCmdEndRendering(commands);
}

void record_scene(const PassInputs& in, const Pane& pane, const Targets& targets, const Output& output) {
  const VkCommandBuffer commands = in.commands;
  const FrameView& view = pane.view;
  image_barrier(commands, output.image, in.color_format, color_written(), color_written());
  image_barrier(commands, targets.depth().handle(), kDepthFormat, undefined(), depth_written());
  VkRenderingAttachmentInfo color =
      attachment(output.view, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_ATTACHMENT_STORE_OP_STORE);
  if (targets.multisampled()) {
    image_barrier(commands, targets.multisample().handle(), in.color_format, undefined(), color_written());
    color = attachment(targets.multisample().view(), VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                       VK_ATTACHMENT_STORE_OP_DONT_CARE);
    color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
    color.resolveImageView = output.view;
    color.resolveImageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  }
  const VkRenderingAttachmentInfo depth =
      attachment(targets.depth().view(), VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
                 VK_ATTACHMENT_STORE_OP_DONT_CARE);  // cleared to 0: infinitely far
  VkRenderingInfo rendering{};
  rendering.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  rendering.renderArea = uncovered(pane);
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachments = &color;
  rendering.pDepthAttachment = &depth;
  vkCmdBeginRendering(commands, &rendering);
  const VkRect2D area = area_of(pane);
  set_area(commands, area.offset, area.extent);
  vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
  vkCmdSetDepthCompareOp(commands, VK_COMPARE_OP_GREATER_OR_EQUAL);
  vkCmdSetDepthWriteEnable(commands, VK_TRUE);
  vkCmdSetCullMode(commands, VK_CULL_MODE_NONE);
  const Vec3f eye = view.camera.eye();
  draw_bodies(in);
  draw_rods(in);
  if (!view.transparent) draw_planes(in, true, eye);
  vkCmdSetDepthWriteEnable(commands, VK_FALSE);
  if (!view.transparent) {
    bind(in, VK_PIPELINE_BIND_POINT_GRAPHICS, in.pipelines.sky);
    vkCmdDraw(commands, 3, 1, 0, 0);
    draw_planes(in, false, eye);
  }
  draw_overlay_passes(in, view.overlays);
  draw_glyphs(in);
  vkCmdEndRendering(commands);
}

}  // namespace stickslip
