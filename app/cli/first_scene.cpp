#include "app/cli/first_scene.h"

#include "app/io/scene/scene_variant.h"

namespace stickslip {

SceneOptions options_of(const JournalStart& start) {
  SceneOptions options;
  options.scene = start.scene;
  options.variant = start.variant;
  options.solver = start.solver;
  options.settings = start.settings;
  options.scale = start.scale;
  options.density = start.density;
  options.force = start.force;
  options.ignore_unknown = start.ignore_unknown;
  return options;
}

Scene load_bundled(const UnpackedScene& scene, const std::string& variant, const JournalStart& start) {
  if (!scene.has_options) return load_variant(scene.file.string(), variant);
  SceneOptions options = options_of(start);
  options.scene = scene.file.string();
  options.variant = variant;
  return prepare_scene(options);
}

Scene FirstSceneLoader::operator()(const std::string& name, const std::string& variant) {
  std::error_code no_such_file;
  if (name != options_.scene && !std::filesystem::equivalent(name, file_, no_such_file))
    return load_variant(name, variant);
  SceneOptions with = options_;
  with.variant = variant;
  Scene scene = prepare_scene(with);
  file_ = scene.file;
  return scene;
}

}  // namespace stickslip
