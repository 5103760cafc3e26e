// What this backend runs on.
#pragma once

#include <string>

#include "gpu/core/backend.h"

namespace stickslip {

struct DeviceInfo {
  std::string device;  // human-readable name
  bool available = false;
  std::string reason;    // why not available
  double bandwidth = 0;  // [bytes/s] of its memory by its data sheet; 0: not known
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

/// Asks for a device without creating anything on it; never throws for a missing driver.
DeviceInfo query_device();

}  // namespace stickslip::STICKSLIP_BACKEND
