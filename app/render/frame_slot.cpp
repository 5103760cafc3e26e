#include "app/render/frame_slot.h"

namespace stickslip {

FrameSlot::FrameSlot(const Device& device, const PipelineLayouts& layouts)
    : device_(device), layouts_(layouts), commands_(device.allocate_commands()) {
  VkFenceCreateInfo fence{};
  fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  fence.flags = VK_FENCE_CREATE_SIGNALED_BIT;
  fence_ = make<Fence, vkCreateFence>(device.handle(), fence, "vkCreateFence");
  VkSemaphoreCreateInfo semaphore{};
  semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  acquired_ = make<Semaphore, vkCreateSemaphore>(device.handle(), semaphore, "vkCreateSemaphore");
  views_.emplace_back(device, layouts);
}

void FrameSlot::wait() const {
  const VkFence fence = fence_;
  check(vkWaitForFences(device_.handle(), 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
}

ViewSlot& FrameSlot::view(std::size_t number) {
  while (views_.size() <= number) views_.emplace_back(device_, layouts_);
  return views_[number];
}

std::uint64_t FrameSlot::bytes_copied() const {
  std::uint64_t sum = 0;
  for (const ViewSlot& view : views_) sum += view.bytes_copied();
  return sum;
}

void FrameSlot::forget_bindings() {
  for (ViewSlot& view : views_) view.forget_bindings();
  let_go();
}

}  // namespace stickslip
