// Search path of the shipped scenes.
#include <cstdlib>

#include "app/io/scene/scene.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidate_folders() {
  if (const char* chosen = std::getenv("STICKSLIP_ASSETS")) return {chosen};
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path() / "assets");
    folders.push_back(program.parent_path().parent_path() / "assets");
    folders.push_back(program.parent_path().parent_path() / "share" / "stickslip" / "assets");
  }
#ifdef STICKSLIP_SOURCE_ASSETS
  folders.push_back(STICKSLIP_SOURCE_ASSETS);
#endif
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
