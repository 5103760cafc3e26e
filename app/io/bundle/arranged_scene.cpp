#include "app/io/bundle/arranged_scene.h"

#include <algorithm>
#include <set>

#include "app/io/file/byte_cursor.h"
#include "app/io/scene/scene_edit.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

/// Folder of files with absolute paths.
constexpr const char* kAbsoluteFiles = "_absolute";

/// How many folders a relative path goes up before it goes down.
std::size_t folders_up(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  const auto down = std::ranges::find_if(normal, [](const fs::path& part) { return part != ".."; });
  return static_cast<std::size_t>(std::distance(normal.begin(), down));
}

/// The last `count` folders of an absolute path. Where it has fewer, others stand for the root, of which ".."
/// is the root again.
fs::path last_folders(const fs::path& folder, std::size_t count) {
  const fs::path below_root = folder.relative_path();
  const std::vector<fs::path> parts(below_root.begin(), below_root.end());
  fs::path last;
  for (std::size_t i = parts.size(); i < count; ++i) last /= "root";
  for (std::size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i) last /= parts[i];
  return last;
}

bool is_frame_of_sequence(const fs::directory_entry& entry) {
  const std::string stem = entry.path().stem().string();
  return entry.is_regular_file() && !stem.empty() &&
         std::ranges::all_of(stem, [](char c) { return c >= '0' && c <= '9'; });
}

class SceneArranger {
 public:
  SceneArranger(const OpenedScene& scene, fs::path root)
      : scene_(scene), folder_(scene.file.parent_path()), root_(std::move(root)) {}

  ArrangedScene arrange() {
    if (scene_.text.empty())
      throw InputError(scene_.file.string() + ": the scene has no text that a bundle could hold");
    const std::vector<NamedPath> paths = named_paths(scene_.text, scene_.file);
    for (const NamedPath& named : paths)
      if (fs::path(named.path).is_relative()) up_ = std::max(up_, folders_up(named.path));
    base_ = last_folders(folder_, up_);
    out_.file = name_of(base_ / scene_.file.stem()) + ".toml";
    out_.members.push_back({out_.file, ""});
    names_.insert(out_.file);
    for (const NamedPath& named : paths) add(named);
    out_.members.front().bytes = with_paths(scene_.text, scene_.file, [&](const std::string& path) {
      const auto found = out_.renamed.find(path);
      return found == out_.renamed.end() ? path : found->second;
    });
    return std::move(out_);
  }

 private:
  /// The name in the archive of a place below the root.
  std::string name_of(const fs::path& place) const {
    return (root_ / place).lexically_normal().generic_string();
  }

  void add(const NamedPath& named) {
    fs::path place = base_ / named.path;
    if (fs::path(named.path).is_absolute()) {
      if (out_.renamed.contains(named.path)) return;
      fs::path path = named.path;
      if (!path.has_filename()) path = path.parent_path();  // of "folder/"
      place = fs::path(kAbsoluteFiles) / std::to_string(out_.renamed.size()) / path.filename();
      fs::path from_scene;
      for (std::size_t i = 0; i < up_; ++i) from_scene /= "..";
      out_.renamed[named.path] = (from_scene / place).generic_string();
    }
    if (!named.is_folder) return add_file(folder_ / named.path, name_of(place));
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / named.path, error))
      if (is_frame_of_sequence(entry)) add_file(entry.path(), name_of(place / entry.path().filename()));
    if (error) throw InputError((folder_ / named.path).string() + ": " + error.message());
  }

  void add_file(const fs::path& file, const std::string& name) {
    if (!names_.insert(name).second) return;
    out_.members.push_back({name, read_bytes(file)});
    std::error_code error;
    if (fs::last_write_time(file, error) > scene_.opened && !error) out_.changed.push_back(file.string());
  }

  const OpenedScene& scene_;
  const fs::path folder_, root_;
  std::size_t up_ = 0;  // folders above the scene's own in which there are files
  fs::path base_;       // the scene's folder below the root
  std::set<std::string> names_;
  ArrangedScene out_;
};

}  // namespace

ArrangedScene arrange_scene(const OpenedScene& scene, const std::string& root) {
  return SceneArranger(scene, root).arrange();
}

}  // namespace stickslip
