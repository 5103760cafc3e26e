// Numbers as text, without loss.
#pragma once

#include <charconv>
#include <string>

namespace stickslip {

/// The shortest text that reads back as the same number.
inline std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace stickslip
