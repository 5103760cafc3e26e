// Scene files: a TOML description of bodies, materials, colliders, motions, camera and expectations.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/io/expect.h"
#include "app/io/input_error.h"
#include "gpu/model/model.h"
#include "gpu/params/params.h"

namespace stickslip {

struct CameraStart {
  Vec<double, 3> position{1, 1, 2}, target{0, 0, 0};  // [m], y is up
  double fov = 40;                                    // vertical field of view [degrees]
};

struct Scene {
  std::string name;         // file name without extension
  std::string title;        // one line
  std::string description;  // what to look at
  std::filesystem::path file;
  Model model;  // finalized
  Params params;
  CameraStart camera;
  int frames = 120;  // length of a run when nobody asks for another
  std::vector<Expectation> expect;
};

struct SceneInfo {
  std::string name, title, description;
  std::filesystem::path file;
  int frames = 120;  // length of a run when nobody asks for another
  int picture = 0;   // frame that shows what it is about
};

/// A shipped scene by name or a file by path: TOML, or .txt for an IPC scene script. Throws InputError: file,
/// line, key, what is wrong and what would be right.
Scene load_scene(const std::string& name_or_path);
/// The same from text; `file` is used for messages and for the paths of meshes.
Scene parse_scene(const std::string& text, const std::filesystem::path& file);

/// Shipped scenes by name. Throws InputError when the assets cannot be found.
std::vector<SceneInfo> list_scenes();

/// The folder with scenes/: $STICKSLIP_ASSETS, else beside or above the executable, else the source tree.
/// Throws InputError naming the places it looked at.
std::filesystem::path assets_folder();

}  // namespace stickslip
