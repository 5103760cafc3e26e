// What is fuzzed: each target feeds bytes to one parser, which may refuse them with an InputError and must do
// nothing worse.
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
