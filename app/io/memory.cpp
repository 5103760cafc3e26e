#include "app/io/memory.h"

#include <cstdint>
#include <fstream>
#include <limits>

#include "app/io/input_error.h"

namespace stickslip {

double available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key, rest;
  double kib = 0;
  while (info >> key >> kib && std::getline(info, rest))
    if (key == "MemAvailable:") return 1024 * kib;
  return std::numeric_limits<double>::max();
}

}  // namespace stickslip
