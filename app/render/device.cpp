#include "app/render/device.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstring>

#include "app/render/renderer.h"

namespace stickslip {

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool has_layer(const char* name) {
  std::uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::ranges::any_of(layers, [&](const auto& l) { return std::strcmp(l.layerName, name) == 0; });
}

VKAPI_ATTR VkBool32 VKAPI_CALL collect_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                               VkDebugUtilsMessageTypeFlagsEXT,
                                               const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  static_cast<std::vector<std::string>*>(user)->emplace_back(data->pMessage);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(std::vector<std::string>* messages) {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = collect_message;
  info.pUserData = messages;
  return info;
}

bool supports_features(VkPhysicalDevice physical) {
  VkPhysicalDeviceVulkan13Features features13{};
  features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features13;
  vkGetPhysicalDeviceFeatures2(physical, &features);
  return features13.dynamicRendering && features13.synchronization2;
}

int rank_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 1;
    default:
      return 0;
  }
}

/// Software devices allocate and free megabytes in each pass. The C library gives such memory back to the
/// system and asks for it again, which costs a page fault per 4 KiB: a third of a picture's time. This keeps
/// it.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kBiggestHeapBlock = 32 << 20;  // [B] the largest that the C library accepts here
  constexpr int kKept = 512 << 20, kAskedAtOnce = 16 << 20;  // [B]
  mallopt(M_MMAP_THRESHOLD, kBiggestHeapBlock);
  mallopt(M_TRIM_THRESHOLD, kKept);
  mallopt(M_TOP_PAD, kAskedAtOnce);
#endif
}

}  // namespace

Device::Device(GLFWwindow* window, bool validation) {
  try {
    create_instance(window != nullptr, validation);
    if (window) {
      const VkResult result = glfwCreateWindowSurface(instance_, window, nullptr, &surface_);
      if (result != VK_SUCCESS)
        throw NoDeviceError("Vulkan cannot show on this window: " + result_name(result));
    }
    choose_physical();
    if (software()) keep_freed_memory();
    create_device();
  } catch (...) {
    destroy();
    throw;
  }
}

Device::~Device() { destroy(); }

void Device::destroy() {
  if (device_) vkDeviceWaitIdle(device_);
  pool_ = {};
  if (device_) vkDestroyDevice(device_, nullptr);
  if (surface_) vkDestroySurfaceKHR(instance_, surface_, nullptr);
  if (messenger_) {
    const auto destroy_messenger = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy_messenger(instance_, messenger_, nullptr);
  }
  if (instance_) vkDestroyInstance(instance_, nullptr);
}

void Device::create_instance(bool with_window, bool validation) {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "stickslip";
  application.apiVersion = VK_API_VERSION_1_3;

  std::vector<const char*> extensions, layers;
  if (with_window) {
    std::uint32_t count = 0;
    const char** names = glfwGetRequiredInstanceExtensions(&count);
    if (!names) throw NoDeviceError("no Vulkan driver can show on this display");
    extensions.assign(names, names + count);
  }
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  VkDebugUtilsMessengerCreateInfoEXT messages = messenger_info(messages_.get());
  validation = validation && has_layer(kValidationLayer);
  if (validation) {
    layers.push_back(kValidationLayer);
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    info.pNext = &messages;
  }
  info.enabledLayerCount = static_cast<std::uint32_t>(layers.size());
  info.ppEnabledLayerNames = layers.data();
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const VkResult result = vkCreateInstance(&info, nullptr, &instance_);
  if (result != VK_SUCCESS)
    throw NoDeviceError("Vulkan is not available: vkCreateInstance: " + result_name(result) +
                        ". Install a driver (a software one: package mesa-vulkan-drivers)");
  if (validation) {
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
    check(create(instance_, &messages, nullptr, &messenger_), "vkCreateDebugUtilsMessengerEXT");
  }
}

int Device::queue_family_of(VkPhysicalDevice physical) const {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  constexpr VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  for (std::uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & wanted) != wanted) continue;
    VkBool32 shows = surface_ == VK_NULL_HANDLE;
    if (surface_) vkGetPhysicalDeviceSurfaceSupportKHR(physical, i, surface_, &shows);
    if (shows) return static_cast<int>(i);
  }
  return -1;
}

void Device::choose_physical() {
  std::uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance_, &count, devices.data());
  if (devices.empty())
    throw NoDeviceError(
        "Vulkan finds no device. Install a driver (a software one: package mesa-vulkan-drivers)");

  int best = -1;
  std::string refused;
  for (const VkPhysicalDevice candidate : devices) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(candidate, &properties);
    const int family = queue_family_of(candidate);
    std::string reason;
    if (properties.apiVersion < VK_API_VERSION_1_3 || !supports_features(candidate))
      reason = "lacks Vulkan 1.3";
    else if (family < 0) reason = surface_ ? "cannot show on this window" : "has no graphics queue";
    else if (surface_ && !has_extension(candidate, VK_KHR_SWAPCHAIN_EXTENSION_NAME))
      reason = "has no swapchain";
    if (!reason.empty()) {
      refused += std::string("; ") + properties.deviceName + " " + reason;
      continue;
    }
    if (rank_of(properties.deviceType) <= best) continue;
    best = rank_of(properties.deviceType);
    physical_ = candidate;
    properties_ = properties;
    family_ = static_cast<std::uint32_t>(family);
  }
  if (!physical_) throw NoDeviceError("no suitable Vulkan device" + refused);
  name_ = properties_.deviceName;
  exports_ = query_export_support(physical_);
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);
}

void Device::create_device() {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  VkPhysicalDeviceVulkan13Features features13{};
  features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  features13.dynamicRendering = VK_TRUE;
  features13.synchronization2 = VK_TRUE;
  features13.maintenance4 = VK_TRUE;  // required by the workgroup sizes of shaders compiled for Vulkan 1.3
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.timelineSemaphore = VK_TRUE;  // every device of Vulkan 1.2 has them
  features13.pNext = &features12;
  std::vector<const char*> extensions;
  if (surface_) extensions.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  for (const char* name :
       {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME})
    if (has_extension(physical_, name)) extensions.push_back(name);
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features13;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, family_, 0, &queue_);

  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = family_;
  pool_ = make<CommandPool, vkCreateCommandPool>(device_, pool, "vkCreateCommandPool");
}

std::uint32_t Device::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags required,
                                  VkMemoryPropertyFlags preferred) const {
  for (const VkMemoryPropertyFlags wanted : {required | preferred, required})
    for (std::uint32_t i = 0; i < memory_.memoryTypeCount; ++i)
      if ((allowed >> i & 1) && (memory_.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  throw RenderError("the Vulkan device has no memory of the kind asked for");
}

VkCommandBuffer Device::allocate_commands() const {
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vkAllocateCommandBuffers(device_, &info, &commands), "vkAllocateCommandBuffers");
  return commands;
}

VkCommandBuffer Device::begin_once() const {
  const VkCommandBuffer commands = allocate_commands();
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
  return commands;
}

void Device::end_once(VkCommandBuffer commands, SemaphoreWait after) const {
  check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  submit(commands, {after, SemaphoreWait{}}, VK_NULL_HANDLE, VK_NULL_HANDLE);
  check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
  vkFreeCommandBuffers(device_, pool_, 1, &commands);
}

void Device::submit(VkCommandBuffer commands, const std::array<SemaphoreWait, 2>& waits, VkSemaphore signal,
                    VkFence fence) const {
  VkCommandBufferSubmitInfo recorded{};
  recorded.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  recorded.commandBuffer = commands;
  std::vector<VkSemaphoreSubmitInfo> before;
  const auto semaphore_info = [](const SemaphoreWait& wait) {
    VkSemaphoreSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    info.semaphore = wait.semaphore;
    info.value = wait.value;
    info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    return info;
  };
  for (const SemaphoreWait& wait : waits)
    if (wait.semaphore) before.push_back(semaphore_info(wait));
  const VkSemaphoreSubmitInfo after = semaphore_info({signal, 0});
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &recorded;
  info.waitSemaphoreInfoCount = static_cast<std::uint32_t>(before.size());
  info.pWaitSemaphoreInfos = before.data();
  info.signalSemaphoreInfoCount = signal ? 1 : 0;
  info.pSignalSemaphoreInfos = &after;
  check(vkQueueSubmit2(queue_, 1, &info, fence), "vkQueueSubmit2");
}

void Device::wait_idle() const { check(vkDeviceWaitIdle(device_), "vkDeviceWaitIdle"); }

}  // namespace stickslip
