#include "app/render/shared_positions.h"

#include <utility>

namespace stickslip {
namespace {

/// Slots start at the alignment of storage buffers.
std::size_t stride_of(const Device& device, std::size_t bytes) {
  const std::size_t step = device.properties().limits.minStorageBufferOffsetAlignment;
  return (bytes + step - 1) / step * step;
}

GpuBuffer make_buffer(const Device& device, std::size_t bytes, ShareKind kind) {
  constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  if (kind == ShareKind::mapped) return GpuBuffer::mapped(device, bytes, kUsage);
  const ExportSupport& can = device.exports();
  const Export wanted = !can.memory ? Export::none : can.dedicated ? Export::dedicated : Export::allowed;
  return GpuBuffer::device_local(device, bytes, kUsage, wanted);
}

Semaphore make_timeline(const Device& device) {
  VkExportSemaphoreCreateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO;
  exported.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkSemaphoreTypeCreateInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  timeline.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  if (device.exports().timelines) timeline.pNext = &exported;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &timeline;
  return make<Semaphore, vkCreateSemaphore>(device.handle(), info, "vkCreateSemaphore");
}

template <class Call, class Info>
UniqueFd export_fd(const Device& device, const char* name, const Info& info) {
  const auto call = reinterpret_cast<Call>(vkGetDeviceProcAddr(device.handle(), name));
  int fd = -1;
  check(call(device.handle(), &info, &fd), name);
  return UniqueFd(fd);
}

UniqueFd export_memory(const Device& device, VkDeviceMemory memory) {
  VkMemoryGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  info.memory = memory;
  info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  return export_fd<PFN_vkGetMemoryFdKHR>(device, "vkGetMemoryFdKHR", info);
}

UniqueFd export_semaphore(const Device& device, VkSemaphore semaphore) {
  VkSemaphoreGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR;
  info.semaphore = semaphore;
  info.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  return export_fd<PFN_vkGetSemaphoreFdKHR>(device, "vkGetSemaphoreFdKHR", info);
}

}  // namespace

SharedPositions::SharedPositions(const Device& device, std::size_t nodes, ShareKind kind)
    : device_(device),
      kind_(kind),
      nodes_(nodes),
      stride_(stride_of(device, bytes())),
      buffer_(make_buffer(device, PositionSlots::count * stride_, kind)),
      slots_(std::make_shared<PositionSlots>([this](const SlotHold& published) { return read(published); })) {
  if (kind == ShareKind::cuda) semaphore_ = make_timeline(device);
}

PositionTarget SharedPositions::target(std::vector<std::int32_t> framed) {
  PositionTarget target;
  target.nodes = nodes_;
  target.slots = PositionSlots::count;
  target.stride = stride_;
  target.framed = std::move(framed);
  if (kind_ == ShareKind::mapped) {
    target.host = buffer_.data();
  } else {
    const ExportSupport& can = device_.exports();
    PositionTarget::Exported exported;
    if (can.memory) exported.memory = export_memory(device_, buffer_.memory());
    if (can.timelines) exported.timeline = export_semaphore(device_, semaphore_);
    exported.bytes = buffer_.allocated();
    exported.dedicated = can.dedicated;
    target.exported = std::move(exported);
  }
  return target;
}

VkDescriptorBufferInfo SharedPositions::binding(const SlotHold& published) const {
  return {buffer_.handle(), offset(published), bytes()};
}

SemaphoreWait SharedPositions::filled(const SlotHold& published) const {
  return {semaphore_, published.value()};
}

void SharedPositions::record_takeover(VkCommandBuffer commands, const SlotHold& published) {
  if (kind_ != ShareKind::cuda || taken_over_[published.index()] == published.value()) return;
  taken_over_[published.index()] = published.value();
  VkBufferMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2;
  // After the semaphore wait, which blocks all commands.
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL;
  barrier.dstQueueFamilyIndex = device_.queue_family();
  barrier.buffer = buffer_.handle();
  barrier.offset = offset(published);
  barrier.size = bytes();
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.bufferMemoryBarrierCount = 1;
  dependency.pBufferMemoryBarriers = &barrier;
  vkCmdPipelineBarrier2(commands, &dependency);
}

std::span<const Vec3f> SharedPositions::read(const SlotHold& published) {
  if (kind_ == ShareKind::mapped && buffer_.host_cached())
    return {reinterpret_cast<const Vec3f*>(buffer_.data() + offset(published)), nodes_};
  if (copied_ != published.value()) {
    if (copy_.size() < bytes()) copy_ = GpuBuffer::readback(device_, bytes());
    const auto record = [&](VkCommandBuffer commands) {
      record_takeover(commands, published);
      const VkBufferCopy region{offset(published), 0, bytes()};
      vkCmdCopyBuffer(commands, buffer_.handle(), copy_.handle(), 1, &region);
      memory_barrier(commands, VK_PIPELINE_STAGE_2_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                     VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    };
    device_.run_once(record, filled(published));
    copied_ = published.value();
    bytes_read_ += bytes();
  }
  return {reinterpret_cast<const Vec3f*>(copy_.data()), nodes_};
}

}  // namespace stickslip
