// Reads which memory and semaphore sharing a Vulkan device supports.
#pragma once

#include <vulkan/vulkan.h>

#include "app/render/interop.h"

namespace stickslip {

ExportSupport query_export_support(VkPhysicalDevice physical);
bool has_extension(VkPhysicalDevice physical, const char* name);

}  // namespace stickslip
