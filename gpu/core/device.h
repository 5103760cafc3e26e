// What this backend runs on.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "gpu/core/backend.h"

namespace stickslip {

struct DeviceInfo {
  std::string device;  // human-readable name
  bool available = false;
  std::string reason;    // why not available
  double bandwidth = 0;  // [bytes/s] of its memory by its data sheet; 0: not known
};

/// Identifies one device across drivers of different APIs.
using DeviceUuid = std::array<std::uint8_t, 16>;

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// On CUDA this loads the program's kernels, to see whether the device can run them. Never throws for a
/// missing driver.
DeviceInfo query_device();

/// Of the device that contexts run on; none on the CPU.
std::optional<DeviceUuid> device_uuid();

}  // namespace stickslip::STICKSLIP_BACKEND
