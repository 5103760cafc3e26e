#include <cstdio>

#include "app/io/file/memory.h"

namespace stickslip {

std::string memory_shortage(double bytes) {
  const double available = available_memory();
  if (bytes <= available) return "";
  char text[80];
  std::snprintf(text, sizeof text, "needs about %.3g GiB of memory, and %.3g GiB are free", bytes / 0x1p30,
                available / 0x1p30);
  return text;
}

}  // namespace stickslip
