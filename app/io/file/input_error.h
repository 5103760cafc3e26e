// Exception of all readers and commands for faulty input: one message for the user, exit code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace stickslip {

/// Shortens a message: of a word of more than 300 bytes it keeps both ends, of a text of pages the first
/// page. A message that is already short is unchanged.
std::string shortened(std::string_view message);

/// Faulty input (a file, a flag, a parameter, a mesh): one message for the user, shortened by `shortened`.
struct InputError : std::runtime_error {
  explicit InputError(const std::string& message) : std::runtime_error(shortened(message)) {}
};

/// No device, display or driver is able to do the requested work.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace stickslip
