#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "app/io/bundle/arranged_scene.h"
#include "app/io/bundle/bundle.h"
#include "app/io/bundle/bundle_hash.h"
#include "app/io/file/byte_cursor.h"
#include "app/io/file/output_file.h"
#include "app/io/file/temporary_folder.h"
#include "app/io/scene/scene_edit.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The bytes of a checkpoint file; only its own writer makes one.
std::string checkpoint_bytes(const Checkpoint& checkpoint) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "checkpoint.hdf5", checkpoint);
  return read_bytes(folder.path() / "checkpoint.hdf5");
}

/// Gathers the parts of a bundle.
class BundleParts {
 public:
  BundleParts(const std::vector<SceneLoad>& loads, const std::string& picture) {
    members_.push_back({bundle_manifest_name, ""});
    members_.push_back({bundle_journal_name, ""});
    if (!picture.empty()) members_.push_back({bundle_picture_name, picture});
    for (const SceneLoad& load : loads) add_load(load, loads.front());
  }

  std::vector<TarMember> finish(const BundleOrigin& origin, const std::string& journal) {
    members_[1].bytes = with_names_of_archive(journal);
    manifest_["format"] = bundle_format;
    manifest_["program"] = origin.program;
    manifest_["backend"] = origin.backend;
    manifest_["device"] = origin.device;
    manifest_["renderer"] = origin.renderer;
    for (std::size_t i = 1; i < members_.size(); ++i)
      manifest_["hashes"][members_[i].name] = bundle_hash(members_[i].bytes);
    members_[0].bytes = manifest_.dump(1) + "\n";
    return std::move(members_);
  }
  const std::vector<std::string>& changed() const { return changed_; }

 private:
  void add_load(const SceneLoad& load, const SceneLoad& first) {
    auto known = std::ranges::find(scenes_, load.scene);
    if (known == scenes_.end()) {
      add_scene(*load.scene, load.scene->file == first.scene->file);
      known = scenes_.insert(scenes_.end(), load.scene);
    }
    const auto index = static_cast<std::size_t>(known - scenes_.begin());
    loads_.push_back(index);
    manifest_["loads"].push_back({{"scene", index}, {"variant", load.variant}});
  }

  void add_scene(const OpenedScene& scene, bool has_options) {
    const std::string root = "scenes/" + std::to_string(scenes_.size());
    ArrangedScene arranged = arrange_scene(scene, root);
    json entry{{"file", arranged.file}, {"opened_from", scene.file.string()}, {"has_options", has_options}};
    if (scene.checkpoint) {
      arranged.members.push_back({root + "/checkpoint.hdf5", checkpoint_bytes(*scene.checkpoint)});
      entry["checkpoint"] = arranged.members.back().name;
    }
    manifest_["scenes"].push_back(std::move(entry));
    std::ranges::move(arranged.members, std::back_inserter(members_));
    std::ranges::move(arranged.changed, std::back_inserter(changed_));
    arranged_.push_back({std::move(arranged.file), {}, std::move(arranged.renamed), {}});
  }

  /// Copies of objects name the files of their scene: absolute paths are replaced as in its text.
  std::string with_names_of_archive(const std::string& journal) const {
    if (std::ranges::all_of(arranged_, [](const ArrangedScene& scene) { return scene.renamed.empty(); }))
      return journal;
    std::string out;
    std::size_t next_load = 0;
    std::istringstream lines(journal);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(R"("event":"load")") != std::string::npos) ++next_load;
      if (line.find(R"("event":"add_object")") != std::string::npos && next_load > 0)
        line = with_names_of_scene(line, arranged_[loads_[std::min(next_load, loads_.size()) - 1]]);
      out += line + "\n";
    }
    return out;
  }
  static std::string with_names_of_scene(const std::string& line, const ArrangedScene& scene) {
    json event = json::parse(line);
    event["toml"] =
        with_paths(event.at("toml").get<std::string>(), bundle_journal_name, [&](const std::string& path) {
          const auto found = scene.renamed.find(path);
          return found == scene.renamed.end() ? path : found->second;
        });
    return event.dump();
  }

  json manifest_{{"scenes", json::array()}, {"loads", json::array()}};
  std::vector<TarMember> members_;
  std::vector<std::shared_ptr<const OpenedScene>> scenes_;
  std::vector<ArrangedScene> arranged_;  // of the scenes, without their files
  std::vector<std::size_t> loads_;       // into scenes_
  std::vector<std::string> changed_;
};

}  // namespace

std::vector<std::string> write_bundle(const fs::path& file, const BundleOrigin& origin,
                                      const std::string& journal, const std::vector<SceneLoad>& loads,
                                      const std::string& picture) {
  BundleParts parts(loads, picture);
  try {
    const std::vector<TarMember> members = parts.finish(origin, journal);
    OutputFile out(file);
    write_tar(out.stream(), members);
    out.commit();
  } catch (const std::invalid_argument& error) {  // a name that is too long
    throw OutputError(file.string() + ": " + error.what());
  } catch (const json::exception& error) {  // a name that is no UTF-8
    throw OutputError(file.string() + ": " + error.what());
  }
  return parts.changed();
}

}  // namespace stickslip
