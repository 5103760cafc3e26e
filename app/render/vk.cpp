#include "app/render/vk.h"

#include <cstring>

#include "app/render/renderer.h"

namespace stickslip {

std::string result_name(VkResult result) {
  switch (result) {
    case VK_SUCCESS:
      return "VK_SUCCESS";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "initialization failed";
    case VK_ERROR_DEVICE_LOST:
      return "device lost";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "memory map failed";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "layer not present";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "extension not present";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "feature not present";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "no compatible driver";
    case VK_ERROR_SURFACE_LOST_KHR:
      return "surface lost";
    case VK_ERROR_OUT_OF_DATE_KHR:
      return "swapchain out of date";
    default:
      return "VkResult " + std::to_string(static_cast<int>(result));
  }
}

void check(VkResult result, const char* call, CallPlace place) {
  if (result >= VK_SUCCESS) return;
  const char* file = std::strrchr(place.file, '/');
  throw RenderError(std::string(call) + " failed: " + result_name(result) + " (" +
                    (file ? file + 1 : place.file) + ":" + std::to_string(place.line) + ")");
}

}  // namespace stickslip
