// Small pictures of the shipped scenes for their list, read when they are first shown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stickslip {

/// Colours in rows from the top: 8 bits of red in the lowest byte, then green, blue and alpha, as of ImGui.
struct Thumbnail {
  int width = 0, height = 0;
  std::vector<std::uint32_t> pixels;
};

/// A picture file of at most 4096 x 4096 pixels, scaled down to this size; each pixel is the mean of those
/// that it covers. None: there is no such file, or it is no picture.
std::optional<Thumbnail> load_thumbnail(const std::filesystem::path& file, int width, int height);

class Thumbnails {
 public:
  static constexpr int kWidth = 64, kHeight = 40;

  /// `folder`: of the files SCENE.png; it may be missing.
  explicit Thumbnails(std::filesystem::path folder);

  /// Whether there is such a folder.
  bool any() const { return any_; }

  /// The picture of a scene; null: it has none. The first call for a scene reads its file.
  const Thumbnail* of(const std::string& scene);

 private:
  std::filesystem::path folder_;
  bool any_ = false;
  std::map<std::string, std::optional<Thumbnail>> known_;
};

}  // namespace stickslip
