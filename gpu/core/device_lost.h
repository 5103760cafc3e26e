// DeviceLost: the device does not respond any more.
#pragma once

#include <stdexcept>
#include <string>

namespace stickslip {

/// After this every call to the device fails, until the program is started again; its memory is lost.
struct DeviceLost : std::runtime_error {
  explicit DeviceLost(const std::string& why)
      : std::runtime_error("the device is lost: " + why +
                           "; the last frame is kept, restart with --backend cpu") {}
};

}  // namespace stickslip
