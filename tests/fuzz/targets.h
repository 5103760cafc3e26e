// Fuzz targets: each feeds bytes to one parser. A parser may throw InputError; any other failure is an error.
#pragma once

#include <span>
#include <string_view>

namespace stickslip {

struct FuzzTarget {
  std::string_view name;
  void (*run)(std::string_view bytes);
};

std::span<const FuzzTarget> fuzz_targets();

}  // namespace stickslip
