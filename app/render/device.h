// The Vulkan instance, device and queue, and the messages of the validation layers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/render/export_support.h"
#include "app/render/vk.h"

struct GLFWwindow;

namespace stickslip {

/// Wait for a semaphore; a timeline semaphore must reach this value. A null semaphore: no wait.
struct SemaphoreWait {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  std::uint64_t value = 0;
};

class Device {
 public:
  /// With a window, chooses a device that can present to it. Throws NoDeviceError, RenderError.
  Device(GLFWwindow* window, bool validation);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physical() const { return physical_; }
  VkDevice handle() const { return device_; }
  VkQueue queue() const { return queue_; }
  std::uint32_t queue_family() const { return family_; }
  VkSurfaceKHR surface() const { return surface_; }  // null without a window
  const VkPhysicalDeviceProperties& properties() const { return properties_; }
  bool software() const { return properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  const std::string& name() const { return name_; }
  const ExportSupport& exports() const { return exports_; }

  bool validation_active() const { return messenger_ != VK_NULL_HANDLE; }
  const std::vector<std::string>& messages() const { return *messages_; }

  /// Index of a memory type of `allowed` with all of `required` and, if there is one, all of `preferred`.
  std::uint32_t memory_type(std::uint32_t allowed, VkMemoryPropertyFlags required,
                            VkMemoryPropertyFlags preferred) const;
  VkMemoryPropertyFlags memory_flags(std::uint32_t type) const {
    return memory_.memoryTypes[type].propertyFlags;
  }
  VkCommandBuffer allocate_commands() const;
  /// Records with `record(commands)`, submits after `after`, and waits for completion.
  template <class Record>
  void run_once(Record record, SemaphoreWait after = {}) const {
    const VkCommandBuffer commands = begin_once();
    record(commands);
    end_once(commands, after);
  }
  /// Runs recorded commands after both waits; `signal` and `fence` may be null.
  void submit(VkCommandBuffer commands, const std::array<SemaphoreWait, 2>& waits, VkSemaphore signal,
              VkFence fence) const;
  void wait_idle() const;

 private:
  void create_instance(bool with_window, bool validation);
  void choose_physical();
  void create_device();
  int queue_family_of(VkPhysicalDevice physical) const;
  VkCommandBuffer begin_once() const;
  void end_once(VkCommandBuffer commands, SemaphoreWait after) const;
  void destroy();

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties_{};
  VkPhysicalDeviceMemoryProperties memory_{};
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t family_ = 0;
  CommandPool pool_;
  std::string name_;
  ExportSupport exports_;
  std::unique_ptr<std::vector<std::string>> messages_ = std::make_unique<std::vector<std::string>>();
};

}  // namespace stickslip
