// Formats a number for names of figures: 1M, 1.5M, 10.6k, 300.
#pragma once

#include <cstdio>
#include <string>

namespace stickslip {

inline std::string counted(double n) {
  char text[32];
  if (n >= 0.9995e6) std::snprintf(text, sizeof text, "%.3gM", 1e-6 * n);
  else if (n >= 1e3) std::snprintf(text, sizeof text, "%.3gk", 1e-3 * n);
  else std::snprintf(text, sizeof text, "%.0f", n);
  return text;
}

}  // namespace stickslip
