// Validator for options that take a number.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/io/file/number_text.h"

namespace stickslip {

/// A number in [low, high]. Unlike CLI::Range, which compares, this refuses a NaN.
inline CLI::Validator number_range(double low, double high) {
  const std::string range = "[" + number_text(low) + ", " + number_text(high) + "]";
  return {[=](const std::string& text) {
            double value = 0;
            const bool inside = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
            return inside ? std::string() : "'" + text + "' must be a number in " + range;
          },
          "NUMBER in " + range};
}

}  // namespace stickslip
