#include "app/render/quality.h"

#include <array>

namespace stickslip {
namespace {
constexpr std::array<std::string_view, 4> kNames = {"automatic", "light", "medium", "high"};
}

Quality parse_quality(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Quality>(i);
  throw std::invalid_argument("unknown quality '" + std::string(name) +
                              "': choose automatic, light, medium or high");
}

std::string_view quality_name(Quality quality) { return kNames[static_cast<std::size_t>(quality)]; }

QualitySettings quality_settings(Quality quality) {
  switch (quality) {
    case Quality::high:
      return {VK_SAMPLE_COUNT_4_BIT, 2048, true, 16, 24, 256, 8};
    case Quality::medium:
      return {VK_SAMPLE_COUNT_4_BIT, 2048, false, 4, 12, 128, 8};
    default:
      return {VK_SAMPLE_COUNT_1_BIT, 1024, false, 1, 0, 1, 4};
  }
}

}  // namespace stickslip
