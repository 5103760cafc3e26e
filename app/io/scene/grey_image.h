// Grey images: portable graymaps (PGM), text and binary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

struct GreyImage {
  std::int32_t columns = 0, rows = 0;
  std::int32_t white = 255;         // the largest grey value allowed
  std::vector<std::uint16_t> grey;  // row by row, from the top
};

/// Largest side [texels].
constexpr std::int32_t kMostTexels = 4096;

/// Parses P2 or P5 with 8 or 16 bits. Throws InputError with the line or byte at fault; `name` is the file's
/// name.
GreyImage parse_pgm(std::string_view bytes, const std::string& name);
GreyImage load_grey_image(const std::filesystem::path& file);

}  // namespace stickslip
