// Bundles: one file with all that a report of a problem needs, so that it can be repeated on another machine.
// It is a tar archive of the manifest `bundle.json` (program, backend, device, scenes in the order of their
// loads, hashes of the files), the journal `journal.jsonl`, perhaps `picture.png` (the view when the bundle
// was written), and for each scene a folder `scenes/N` with its text as it was opened and the files that it
// names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/io/bundle/opened_scene.h"
#include "app/io/file/tar.h"
#include "app/io/file/temporary_folder.h"

namespace stickslip {

inline constexpr const char* bundle_manifest_name = "bundle.json";
inline constexpr const char* bundle_journal_name = "journal.jsonl";
inline constexpr const char* bundle_picture_name = "picture.png";

/// Where a bundle comes from.
struct BundleOrigin {
  std::string program;   // text of --version
  std::string backend;   // "cpu", "cuda"
  std::string device;    // on which the backend ran
  std::string renderer;  // device of the window; empty: there was none
};

struct BundledScene {
  std::string file;         // its name in the archive
  std::string opened_from;  // its path on the machine of then
  std::string checkpoint;   // name of the checkpoint from which the run went on; empty: it started anew
  bool has_options = true;  // the options of the journal's start are for this scene

  /// The name of what is loaded: the checkpoint, or the scene's text.
  const std::string& loaded() const { return checkpoint.empty() ? file : checkpoint; }
};

/// The scene of one `load` of the journal.
struct BundledLoad {
  std::size_t scene = 0;  // into Bundle::scenes
  std::string variant;
};

struct Bundle {
  BundleOrigin origin;
  std::vector<BundledScene> scenes;
  std::vector<BundledLoad> loads;
  std::vector<TarMember> members;  // all files of the archive

  /// Null: the archive has no such file.
  const std::string* find(const std::string& name) const;
};

/// Whether the file's name ends as those of bundles, in ".stickslip".
bool is_bundle_name(const std::filesystem::path& file);

/// `journal`: its lines; `loads`: the scenes of its `load` events, and perhaps later ones; `picture`: bytes
/// of a PNG file, or empty. Returns the files that were changed after their scene was opened: the bundle has
/// them as they are now. Throws InputError when a file of a scene cannot be read or `file` cannot be written,
/// and OutputError.
std::vector<std::string> write_bundle(const std::filesystem::path& file, const BundleOrigin& origin,
                                      const std::string& journal, const std::vector<SceneLoad>& loads,
                                      const std::string& picture);

/// Throws InputError with the file for everything that `write_bundle` does not write: no archive, damage, a
/// file that is missing, unlisted or other than when it was written.
Bundle read_bundle(const std::filesystem::path& file);

/// Writes all files below `folder`, which is made, and must be empty if it exists. Checkpoints then name
/// their scene in it. Throws InputError and OutputError.
void extract_bundle(const Bundle& bundle, const std::filesystem::path& folder);

/// A scene of an extracted bundle.
struct UnpackedScene {
  std::filesystem::path file;  // what is loaded, see BundledScene::loaded
  bool has_options = true;     // see BundledScene
  std::string name;            // by which the journal loads it; empty: not read
};
/// Those of the journal's `load` events, in their order, for a bundle that was extracted to `folder`.
std::vector<UnpackedScene> unpacked_loads(const Bundle& bundle, const std::filesystem::path& folder);

/// The files of a bundle in a temporary folder, as long as this object lives.
class UnpackedBundle {
 public:
  /// Throws as read_bundle and extract_bundle.
  explicit UnpackedBundle(const std::filesystem::path& file);

  const BundleOrigin& origin() const { return bundle_.origin; }
  std::filesystem::path journal() const { return folder_.path() / bundle_journal_name; }
  /// The scene of the next `load` of the journal. Throws InputError: the bundle has no more.
  UnpackedScene next_load();

 private:
  std::filesystem::path file_;
  Bundle bundle_;
  TemporaryFolder folder_;
  std::size_t next_ = 0;
};

}  // namespace stickslip
