// How a scene and the files that it names lie in a bundle. Used by bundle_write.cpp only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/io/bundle/opened_scene.h"
#include "app/io/file/tar.h"

namespace stickslip {

struct ArrangedScene {
  std::string file;                // name in the archive of the scene's text
  std::vector<TarMember> members;  // that text and the files that it names
  /// Absolute paths in the text, and the relative ones that replace them.
  std::map<std::string, std::string> renamed;
  std::vector<std::string> changed;  // files that were changed after the scene was opened
};

/// Reads the files that the scene names. In the folder `root` of the archive they lie as they lie on the
/// disk, relative to the scene, so that relative paths of its text hold. Files with an absolute path are in a
/// folder of their own, and the text names them there. Throws InputError: the scene has no text, or a file
/// cannot be read.
ArrangedScene arrange_scene(const OpenedScene& scene, const std::string& root);

}  // namespace stickslip
