#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/io/bundle/bundle.h"
#include "app/io/bundle/bundle_hash.h"
#include "app/io/file/byte_cursor.h"
#include "app/io/file/output_file.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Fills a bundle from the manifest among its members.
class ManifestReader {
 public:
  ManifestReader(Bundle& bundle, const fs::path& file) : bundle_(bundle), file_(file) {}

  void read() {
    const std::string* text = bundle_.find(bundle_manifest_name);
    if (text == nullptr) fail("is no bundle: it has no " + std::string(bundle_manifest_name));
    try {
      const json manifest = json::parse(*text);
      const auto format = manifest.at("format").get<std::string>();
      if (format != bundle_format)
        fail(std::string(bundle_manifest_name) + ": the format is '" + format +
             "', and this version reads '" + bundle_format + "'");
      bundle_.origin = {manifest.at("program"), manifest.at("backend"), manifest.at("device"),
                        manifest.at("renderer")};
      check_hashes(manifest.at("hashes"));
      for (const json& scene : manifest.at("scenes")) read_scene(scene);
      for (const json& load : manifest.at("loads")) read_load(load);
    } catch (const json::exception& error) {
      fail(std::string(bundle_manifest_name) + ": " + error.what());
    }
    check_has(bundle_journal_name);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(file_.string() + ": " + what); }
  void check_has(const std::string& name) const {
    if (bundle_.find(name) == nullptr) fail("the file " + shown(name) + " is missing");
  }

  void check_hashes(const json& hashes) const {
    for (const auto& [name, hash] : hashes.items()) check_has(name);
    for (const TarMember& member : bundle_.members) {
      if (member.name == bundle_manifest_name) continue;
      if (!hashes.contains(member.name))
        fail("the file " + shown(member.name) + " is not listed in " + bundle_manifest_name);
      if (hashes.at(member.name).get<std::string>() != bundle_hash(member.bytes))
        fail("the hash of " + shown(member.name) + " is wrong: the file is damaged");
    }
  }

  void read_scene(const json& entry) {
    BundledScene scene{entry.at("file"), entry.at("opened_from"), entry.value("checkpoint", std::string()),
                       entry.at("has_options").get<bool>()};
    check_has(scene.file);
    if (!scene.checkpoint.empty()) check_has(scene.checkpoint);
    bundle_.scenes.push_back(std::move(scene));
  }

  void read_load(const json& entry) {
    const auto scene = entry.at("scene").get<std::size_t>();
    if (scene >= bundle_.scenes.size()) fail("there is no scene " + std::to_string(scene));
    bundle_.loads.push_back({scene, entry.at("variant").get<std::string>()});
  }

  Bundle& bundle_;
  const fs::path& file_;
};

void write_member(const fs::path& file, const std::string& bytes) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw OutputError(file.string() + ": writing failed: is the disk full?");
}

}  // namespace

const std::string* Bundle::find(const std::string& name) const {
  const auto found = std::ranges::find(members, name, &TarMember::name);
  return found == members.end() ? nullptr : &found->bytes;
}

bool is_bundle_name(const fs::path& file) { return file.extension() == ".stickslip"; }

Bundle read_bundle(const fs::path& file) {
  Bundle bundle;
  bundle.members = parse_tar(read_bytes(file), file.string());
  ManifestReader(bundle, file).read();
  return bundle;
}

void extract_bundle(const Bundle& bundle, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) throw OutputError(folder.string() + ": this folder cannot be made");
  // Links in a folder with files could lead elsewhere.
  if (!fs::is_empty(folder, error) || error)
    throw InputError(folder.string() + ": must be an empty folder, or one that does not exist");
  for (const TarMember& member : bundle.members) write_member(folder / member.name, member.bytes);
  for (const BundledScene& scene : bundle.scenes) {
    if (scene.checkpoint.empty()) continue;
    Checkpoint checkpoint = read_checkpoint(folder / scene.checkpoint);
    checkpoint.scene = fs::absolute(folder / scene.file).string();
    write_checkpoint(folder / scene.checkpoint, checkpoint);
  }
}

std::vector<UnpackedScene> unpacked_loads(const Bundle& bundle, const fs::path& folder) {
  std::vector<UnpackedScene> loads;
  loads.reserve(bundle.loads.size());
  for (const BundledLoad& load : bundle.loads) {
    const BundledScene& scene = bundle.scenes[load.scene];
    loads.push_back({folder / scene.loaded(), scene.has_options, {}});
  }
  return loads;
}

UnpackedBundle::UnpackedBundle(const fs::path& file) : file_(file), bundle_(read_bundle(file)) {
  extract_bundle(bundle_, folder_.path());
  bundle_.members.clear();
}

UnpackedScene UnpackedBundle::next_load() {
  const std::vector<UnpackedScene> loads = unpacked_loads(bundle_, folder_.path());
  if (next_ >= loads.size())
    throw InputError(file_.string() + ": the journal loads more scenes than the bundle has");
  return loads[next_++];
}

}  // namespace stickslip
