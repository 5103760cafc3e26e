// What every reader and every command throws when its input is at fault: one message for the user, exit
// code 2.
#pragma once

#include <stdexcept>

namespace stickslip {

/// Something that was given (a file, a flag, a parameter, a mesh) is wrong: one message for the user.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// No device, display or driver that could do what was asked.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace stickslip
