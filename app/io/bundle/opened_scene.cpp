#include "app/io/bundle/opened_scene.h"

#include <algorithm>

namespace stickslip {

void OpenedScenes::add(const Scene& scene) {
  std::error_code error;  // of scenes without a file
  const std::filesystem::path file = std::filesystem::absolute(scene.file, error).lexically_normal();
  const auto same = std::ranges::find_if(loads_, [&](const SceneLoad& load) {
    return !scene.resumed && !load.scene->checkpoint && load.scene->file == file &&
           load.scene->text == scene.source;
  });
  if (same != loads_.end()) {
    loads_.push_back({same->scene, scene.variant});
    return;
  }
  std::shared_ptr<Checkpoint> checkpoint;
  if (scene.resumed) {
    checkpoint = std::make_shared<Checkpoint>(make_checkpoint(scene, *scene.resumed));
    // The bundle has it as the scene's text, in which files have their names in the archive.
    checkpoint->source.clear();
  }
  const OpenedScene opened{file, scene.source, checkpoint, std::filesystem::file_time_type::clock::now()};
  loads_.push_back({std::make_shared<const OpenedScene>(opened), scene.variant});
}

}  // namespace stickslip
