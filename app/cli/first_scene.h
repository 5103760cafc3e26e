// How a window, and the replay of its journal, load scenes.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "app/cli/cli.h"
#include "app/io/bundle/bundle.h"
#include "app/viewer/journal_file.h"

namespace stickslip {

/// Those with which a journal was started.
SceneOptions options_of(const JournalStart& start);

/// A scene of a bundle; with the options of its journal's start where they are for it. Throws InputError.
Scene load_bundled(const UnpackedScene& scene, const std::string& variant, const JournalStart& start);

/// Loads the scene of the command line with its options, each time, also by the file that the scene list
/// gives. The options name the materials of that scene: others are loaded without them.
class FirstSceneLoader {
 public:
  explicit FirstSceneLoader(SceneOptions options) : options_(std::move(options)) {}
  /// Throws InputError.
  Scene operator()(const std::string& name, const std::string& variant);

 private:
  SceneOptions options_;
  std::filesystem::path file_;
};

}  // namespace stickslip
