// What every reader and every command throws when its input is at fault: one message for the user, exit
// code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace stickslip {

/// A message as a user can read it: of a word of more than 300 bytes only both ends, of a text of pages the
/// first one. A message that is shortened already stays as it is.
std::string shortened(std::string_view message);

/// Something that was given (a file, a flag, a parameter, a mesh) is wrong: one message for the user, which
/// echoes no more of it than `shortened` leaves.
struct InputError : std::runtime_error {
  explicit InputError(const std::string& message) : std::runtime_error(shortened(message)) {}
};

/// No device, display or driver that could do what was asked.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace stickslip
