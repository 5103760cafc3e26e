#include "app/render/export_support.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace stickslip {
namespace {

bool exports_buffers(VkPhysicalDevice physical, bool& dedicated) {
  VkPhysicalDeviceExternalBufferInfo asked{};
  asked.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  asked.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  asked.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalBufferProperties answer{};
  answer.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  vkGetPhysicalDeviceExternalBufferProperties(physical, &asked, &answer);
  const VkExternalMemoryFeatureFlags features = answer.externalMemoryProperties.externalMemoryFeatures;
  dedicated = features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
  return features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
}

bool exports_timelines(VkPhysicalDevice physical) {
  VkSemaphoreTypeCreateInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  timeline.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkPhysicalDeviceExternalSemaphoreInfo asked{};
  asked.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO;
  asked.pNext = &timeline;
  asked.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  VkExternalSemaphoreProperties answer{};
  answer.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES;
  vkGetPhysicalDeviceExternalSemaphoreProperties(physical, &asked, &answer);
  return answer.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
}

}  // namespace

bool has_extension(VkPhysicalDevice physical, const char* name) {
  std::uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data());
  return std::ranges::any_of(extensions,
                             [&](const auto& e) { return std::strcmp(e.extensionName, name) == 0; });
}

ExportSupport query_export_support(VkPhysicalDevice physical) {
  ExportSupport support;
  VkPhysicalDeviceIDProperties ids{};
  ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &ids;
  vkGetPhysicalDeviceProperties2(physical, &properties);
  support.name = properties.properties.deviceName;
  static_assert(sizeof(ids.deviceUUID) == sizeof(DeviceUuid));
  std::memcpy(support.uuid.data(), ids.deviceUUID, sizeof(ids.deviceUUID));

  support.memory = has_extension(physical, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) &&
                   exports_buffers(physical, support.dedicated);
  support.timelines =
      has_extension(physical, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) && exports_timelines(physical);
  return support;
}

}  // namespace stickslip
