// Files that the window writes on request, besides pictures and races.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/io/bundle/bundle.h"
#include "app/io/checkpoint/checkpoint.h"
#include "app/process/detached_process.h"
#include "app/render/camera.h"
#include "app/render/image.h"
#include "app/viewer/fork.h"
#include "app/viewer/session_journal.h"
#include "app/viewer/simulation.h"
#include "app/viewer/tracked_probes.h"

namespace stickslip {

/// A bundle on the disk.
struct UnpackedSession {
  std::filesystem::path journal;
  std::vector<UnpackedScene> loads;  // of the journal, in its order
};

/// Writes into one folder, which is made for the first file. The log has the path, or why there is no file.
class WindowFiles {
 public:
  explicit WindowFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// As `run --report`, of the steps whose reports are still there. `scene`: its name, in names of files.
  void save_report(const Simulation& simulation, const std::string& scene) const;
  /// The numbers of the plots over the same steps, see history_csv and plot_columns.
  void save_plots(const Simulation& simulation, const TrackedProbes& tracked, const TrackedProbes& expected,
                  const Forks& forks, const std::string& scene) const;
  /// The scene's file with other settings.
  void save_scene(const Scene& scene, const Settings& settings) const;
  /// A line of a camera path: keys of later times are appended, one of an earlier time begins another file.
  void add_camera_key(const Camera& camera, double time, const std::string& scene);
  /// The next key begins another file.
  void end_camera_file() { camera_file_.clear(); }
  /// A state that was kept outlives the window as a checkpoint file; a later one of the scene replaces it.
  void write_kept(const Checkpoint& kept) const;
  /// The session up to now with its scenes (`Simulation::opened`), and a picture. `scene`: a name, in names
  /// of files.
  void save_bundle(const std::string& scene, const BundleOrigin& origin, const SessionJournal& journal,
                   const std::vector<SceneLoad>& loads, const Image& picture) const;
  /// The files of a bundle go into a folder of their own. Throws InputError, also for a bundle without a
  /// scene, and OutputError.
  UnpackedSession unpack_bundle(const std::filesystem::path& file) const;
  /// Opens the folder in the desktop's program for folders, xdg-open.
  void open_folder();
  /// Logs that this program has failed, once.
  void watch_folder();

 private:
  std::filesystem::path folder_;
  std::filesystem::path camera_file_;  // empty: none yet
  double last_camera_key_ = 0;         // [s]
  std::unique_ptr<DetachedProcess> opener_;
};

}  // namespace stickslip
