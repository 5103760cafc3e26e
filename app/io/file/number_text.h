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

/// To 15 digits: 2.025 of 2.0250000000000004, the rounding of a sum.
inline double rounded_decimal(double value) {
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 15).ptr;
  double decimal = value;
  std::from_chars(text, end, decimal);
  return decimal;
}

/// The double that the shortest text of a float is: 0.1 of 0.1f, where a cast has ten digits more.
inline double decimal_value(float value) {
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  double decimal = value;
  std::from_chars(text, end, decimal);
  return decimal;
}

}  // namespace stickslip
