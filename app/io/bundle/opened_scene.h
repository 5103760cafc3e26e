// What scenes were when they were opened, for bundles that are written later.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/io/checkpoint/checkpoint.h"
#include "app/io/scene/scene.h"

namespace stickslip {

struct OpenedScene {
  std::filesystem::path file;  // absolute: of the scene, the IPC script or the mesh
  std::string text;            // the TOML that it was parsed from, of scripts and meshes too
  std::shared_ptr<const Checkpoint> checkpoint;  // from which the run goes on; null: it started anew
  std::filesystem::file_time_type opened;
};

/// The scene of one `load` of a journal.
struct SceneLoad {
  std::shared_ptr<const OpenedScene> scene;  // shared by loads of the same text
  std::string variant;                       // empty: none
};

/// In the order in which they were loaded.
class OpenedScenes {
 public:
  /// `scene` as it came from its loader.
  void add(const Scene& scene);
  const std::vector<SceneLoad>& loads() const { return loads_; }

 private:
  std::vector<SceneLoad> loads_;
};

}  // namespace stickslip
