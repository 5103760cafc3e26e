// A picture in memory: 8 bits per channel, R G B A, rows from the top, gamma encoded; colours are not
// multiplied by alpha.
#pragma once

#include <cstdint>
#include <vector>

namespace stickslip {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // width * height * 4

  const std::uint8_t* pixel(int x, int y) const {
    return rgba.data() + 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x);
  }
};

}  // namespace stickslip
