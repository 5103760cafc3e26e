#include "app/viewer/thumbnails.h"

#include <stb_image.h>

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>
#include <utility>

namespace stickslip {
namespace {

constexpr int kMostPixels = 4096;  // along an edge

/// The mean colour of the pixels in [x0, x1) x [y0, y1) of an RGBA picture.
std::uint32_t mean_color(const stbi_uc* pixels, int width, int x0, int x1, int y0, int y1) {
  std::array<std::uint32_t, 4> sums{};
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x)
      for (std::size_t c = 0; c < 4; ++c)
        sums[c] += pixels[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                               static_cast<std::size_t>(x)) +
                          c];
  const auto count = static_cast<std::uint32_t>((x1 - x0) * (y1 - y0));
  std::uint32_t color = 0;
  for (std::size_t c = 0; c < 4; ++c) color |= (sums[c] + count / 2) / count << 8 * c;
  return color;
}

}  // namespace

std::optional<Thumbnail> load_thumbnail(const std::filesystem::path& file, int width, int height) {
  const std::string path = file.string();
  int columns = 0, rows = 0, channels = 0;
  if (!stbi_info(path.c_str(), &columns, &rows, &channels) || columns > kMostPixels || rows > kMostPixels)
    return std::nullopt;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load(path.c_str(), &columns, &rows, &channels, 4), &stbi_image_free);
  if (!pixels) return std::nullopt;
  Thumbnail small{width, height, {}};
  small.pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int x0 = x * columns / width, y0 = y * rows / height;
      small.pixels.push_back(mean_color(pixels.get(), columns, x0,
                                        std::max(x0 + 1, (x + 1) * columns / width), y0,
                                        std::max(y0 + 1, (y + 1) * rows / height)));
    }
  return small;
}

Thumbnails::Thumbnails(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  any_ = std::filesystem::is_directory(folder_, error);
}

const Thumbnail* Thumbnails::of(const std::string& scene) {
  const auto [entry, is_new] = known_.try_emplace(scene);
  if (is_new && any_) entry->second = load_thumbnail(folder_ / (scene + ".png"), kWidth, kHeight);
  return entry->second ? &*entry->second : nullptr;
}

}  // namespace stickslip
