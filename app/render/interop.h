// Negotiates how an engine writes positions into Vulkan's memory. No Vulkan code here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gpu/sharing.h"

namespace stickslip {

enum class Interop { automatic, off };
/// Parses "auto" or "off". Throws std::invalid_argument with the choices.
Interop parse_interop(std::string_view name);

/// The kinds of sharing that a Vulkan device supports.
struct ExportSupport {
  std::string name;
  DeviceUuid uuid{};
  bool memory = false, timelines = false;
  bool dedicated = false;  // exported memory must be allocated for one buffer alone
};

/// The best way for an engine on the device `engine` (empty: CPU). The note gives the reason against a better
/// way.
Sharing negotiate(Interop wanted, const std::optional<DeviceUuid>& engine, const ExportSupport& vulkan);

/// The next way to try after the engine's answer; empty: copies.
std::optional<Sharing> second_best(ShareKind offered, const Sharing& answer);

/// A line for the user: "mapped (no copy)", "staged: switched off".
std::string describe(const Sharing& sharing);

}  // namespace stickslip
