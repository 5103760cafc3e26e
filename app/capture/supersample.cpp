#include "app/capture/supersample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stickslip {
namespace {

std::array<double, 256> light_of_values() {
  std::array<double, 256> light{};
  for (std::size_t i = 0; i < light.size(); ++i) {
    const double value = static_cast<double>(i) / 255;
    light[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return light;
}

std::uint8_t value_of(double light) {
  const double value = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * std::min(value, 1.0)));
}

}  // namespace

Image reduced(const Image& image, int factor) {
  static const std::array<double, 256> light = light_of_values();
  Image out{image.width / factor, image.height / factor, {}};
  out.rgba.resize(std::size_t{4} * static_cast<std::size_t>(out.width) *
                  static_cast<std::size_t>(out.height));
  std::uint8_t* to = out.rgba.data();
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x, to += 4) {
      double sum[3] = {0, 0, 0}, alpha = 0;
      for (int v = 0; v < factor; ++v)
        for (int u = 0; u < factor; ++u) {
          const std::uint8_t* from = image.pixel(x * factor + u, y * factor + v);
          const double weight = from[3] / 255.0;
          alpha += weight;
          for (int c = 0; c < 3; ++c) sum[c] += weight * light[from[c]];
        }
      for (int c = 0; c < 3; ++c) to[c] = alpha > 0 ? value_of(sum[c] / alpha) : 0;
      to[3] = static_cast<std::uint8_t>(std::lround(255 * alpha / (factor * factor)));
    }
  return out;
}

}  // namespace stickslip
