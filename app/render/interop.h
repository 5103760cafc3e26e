// Whether an engine can write positions into Vulkan's memory, and how. No Vulkan in here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gpu/sharing.h"

namespace stickslip {

enum class Interop { automatic, off };
/// "auto", "off". Throws std::invalid_argument naming the choices.
Interop parse_interop(std::string_view name);

/// What a Vulkan device can share with other drivers.
struct ExportSupport {
  std::string name;
  DeviceUuid uuid{};
  bool memory = false, timelines = false;
  bool dedicated = false;  // memory that is exported must be made for one buffer alone
};

/// The best way for an engine that runs on `engine`; nothing: on the CPU. Its note says why not a better one.
Sharing negotiate(Interop wanted, const std::optional<DeviceUuid>& engine, const ExportSupport& vulkan);

/// What is left to try when an engine answered so; nothing: copies.
std::optional<Sharing> second_best(ShareKind offered, const Sharing& answer);

/// "mapped (no copy)", "staged: switched off", in a line for the user.
std::string describe(const Sharing& sharing);

}  // namespace stickslip
