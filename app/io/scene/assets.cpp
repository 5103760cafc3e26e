// Search path of the shipped scenes.
#include <cstdlib>
#include <fstream>
#include <optional>

#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// The source tree of the build folder that holds `program`, as CMake's cache there names it; none for a
/// program that was installed or copied.
std::optional<fs::path> source_tree_of(const fs::path& program) {
  constexpr std::string_view key = "stickslip_SOURCE_DIR:STATIC=";
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    std::ifstream cache(folder / "CMakeCache.txt");
    for (std::string line; std::getline(cache, line);)
      if (line.starts_with(key)) return line.substr(key.size());
  }
  return {};
}

std::vector<fs::path> candidate_folders() {
  if (const char* chosen = std::getenv("STICKSLIP_ASSETS")) return {chosen};
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path() / "assets");
    folders.push_back(program.parent_path().parent_path() / "assets");
    folders.push_back(program.parent_path().parent_path() / "share" / "stickslip" / "assets");
    if (const std::optional<fs::path> source = source_tree_of(program)) folders.push_back(*source / "assets");
  }
  return folders;
}

}  // namespace

fs::path assets_folder() {
  std::string tried;
  for (const fs::path& folder : candidate_folders()) {
    std::error_code error;
    if (fs::is_directory(folder / "scenes", error)) return folder;
    tried += "\n  " + (folder / "scenes").string();
  }
  throw InputError("the shipped scenes were not found (set STICKSLIP_ASSETS); looked at:" + tried);
}

}  // namespace stickslip
