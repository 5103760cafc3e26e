#include "app/io/file/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>

#include "app/io/file/input_error.h"

namespace stickslip {

double available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key, rest;
  double kib = 0;
  while (info >> key >> kib && std::getline(info, rest))
    if (key == "MemAvailable:") return 1024 * kib;
  return std::numeric_limits<double>::max();
}

double address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<double>::max();
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const double used = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

double resident_memory() {
  std::ifstream info("/proc/self/status");
  std::string key, rest;
  for (double kib = 0; info >> key && std::getline(info, rest);)
    if (key == "VmRSS:") return std::sscanf(rest.c_str(), "%lf", &kib) == 1 ? 1024 * kib : 0;
  return 0;
}

}  // namespace stickslip
