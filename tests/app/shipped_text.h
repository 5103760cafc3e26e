// What names of tests need of shipped files, without parsing them: a test program makes its names whenever it
// starts, a thousand times in the quick tier, and parsing all scenes takes ten times as long as the rest of
// its start.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/io/scene/scene.h"

namespace stickslip::test {

/// The .toml files of a folder of the assets, in the order of their names; none where the folder cannot be
/// read.
inline std::vector<std::filesystem::path> shipped_files(const char* folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(assets_folder() / folder, error))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string text_of(const std::filesystem::path& file) {
  std::string text(std::filesystem::file_size(file), '\0');
  std::ifstream(file).read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

}  // namespace stickslip::test
