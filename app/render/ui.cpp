#include "app/render/ui.h"

#include <backends/imgui_impl_vulkan.h>
#include <imgui.h>

#include "app/render/renderer.h"

namespace stickslip {
namespace {

/// Draws over the existing content; ImGui 1.86 needs a classic render pass.
RenderPass make_pass(const Device& device, VkFormat format) {
  VkAttachmentDescription attachment{};
  attachment.format = format;
  attachment.samples = VK_SAMPLE_COUNT_1_BIT;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  attachment.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  attachment.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  attachment.initialLayout = attachment.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
  const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &reference;
  VkSubpassDependency dependency{};
  dependency.srcSubpass = VK_SUBPASS_EXTERNAL;
  dependency.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  dependency.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  dependency.dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  dependency.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  VkRenderPassCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
  info.attachmentCount = 1;
  info.pAttachments = &attachment;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.dependencyCount = 1;
  info.pDependencies = &dependency;
  return make<RenderPass, vkCreateRenderPass>(device.handle(), info, "vkCreateRenderPass");
}

DescriptorPool make_pool(const Device& device) {
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 4};
  VkDescriptorPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  info.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
  info.maxSets = 4;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  return make<DescriptorPool, vkCreateDescriptorPool>(device.handle(), info, "vkCreateDescriptorPool");
}

}  // namespace

Ui::Ui(const Device& device, VkFormat format)
    : device_(device), pass_(make_pass(device, format)), pool_(make_pool(device)) {
  if (!ImGui::GetCurrentContext()) throw RenderError("a renderer with a window needs an ImGui context");
  ImGui_ImplVulkan_InitInfo info{};
  info.Instance = device.instance();
  info.PhysicalDevice = device.physical();
  info.Device = device.handle();
  info.QueueFamily = device.queue_family();
  info.Queue = device.queue();
  info.DescriptorPool = pool_;
  info.MinImageCount = 2;
  info.ImageCount = 6;  // sets of vertex buffers: more than two for each frame in flight
  info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
  info.CheckVkResultFn = [](VkResult result) { check(result, "a Vulkan call of ImGui"); };
  ImGui_ImplVulkan_Init(&info, pass_);
  device.run_once([](VkCommandBuffer commands) { ImGui_ImplVulkan_CreateFontsTexture(commands); });
  ImGui_ImplVulkan_DestroyFontUploadObjects();
}

Ui::~Ui() {
  vkDeviceWaitIdle(device_.handle());
  ImGui_ImplVulkan_Shutdown();
}

void Ui::set_images(std::span<const VkImageView> views, VkExtent2D size) {
  framebuffers_.clear();
  size_ = size;
  for (const VkImageView& view : views) {
    VkFramebufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
    info.renderPass = pass_;
    info.attachmentCount = 1;
    info.pAttachments = &view;
    info.width = size_.width;
    info.height = size_.height;
    info.layers = 1;
    framebuffers_.push_back(
        make<Framebuffer, vkCreateFramebuffer>(device_.handle(), info, "vkCreateFramebuffer"));
  }
}

void Ui::record(VkCommandBuffer commands, std::uint32_t image, ImDrawData* ui) const {
  VkRenderPassBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
  info.renderPass = pass_;
  info.framebuffer = framebuffers_[image];
  info.renderArea = {{0, 0}, size_};
  vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
  ImGui_ImplVulkan_RenderDrawData(ui, commands);
  vkCmdEndRenderPass(commands);
}

}  // namespace stickslip
