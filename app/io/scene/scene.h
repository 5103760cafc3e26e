// Scene files: a TOML description of bodies, materials, colliders, motions, camera and expectations.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/io/file/input_error.h"
#include "app/io/scene/expect.h"
#include "gpu/model/model.h"
#include "gpu/model/state.h"
#include "gpu/model/steppers.h"
#include "gpu/params/lab_params.h"
#include "gpu/params/params.h"

namespace stickslip {

struct CameraStart {
  Vec<double, 3> position{1, 1, 2}, target{0, 0, 0};  // [m], y is up
  double fov = 40;                                    // vertical field of view [degrees]
};

/// What a scene says of a family of steppers.
struct FamilyNote {
  StepperFamily family;
  std::string reason;  // why the scene's expectations do not hold under it; empty: they hold
};

/// The same bodies with other settings, and the expectations for them.
struct Variant {
  std::string name, description;
  std::vector<std::string> settings;  // "key=value" each, as `--set` takes them
  int frames = 0;                     // length of a run; 0: the scene's
  std::vector<Expectation> expect;
  std::vector<FamilyNote> families;  // instead of the scene's, each for its family
};

struct Scene {
  std::string name;         // file name without extension
  std::string title;        // one line
  std::string description;  // guide to what the scene shows
  std::filesystem::path file;
  Model model;  // finalized
  Params params;
  LabParams contact_params = stepping_lab_params();  // of the contact solvers of velocity-level steps
  CameraStart camera;
  int frames = 120;    // default length of a run
  double scale = 1;    // refinement factor: finer meshes, longer arrays
  double density = 1;  // multiplies the strands of hair
  std::vector<Expectation> expect;
  std::vector<FamilyNote> families;  // the [steppers] table, with the entries of the selected variant
  std::vector<Variant> variants;
  std::string variant;                   // name of the selected variant, or empty
  bool changed = false;                  // objects came or went since it was loaded
  std::vector<std::string> notes;        // what of its files was left out, a message each
  std::string source;                    // the TOML text that it was parsed from; empty: it has none
  std::shared_ptr<const State> resumed;  // where a run goes on, of a checkpoint; null: it starts anew

  /// Why the expectations do not hold under the solver in use; empty: they hold, or the scene does not say.
  std::string unmet_reason() const;
};

/// What a scene consists of: solids (deformable or affine), rigid bodies, cloth and rods, or several of
/// these.
enum class SceneKind { solids, rigid, thin, mixed };
inline const std::vector<std::string> scene_kind_names{"solids", "rigid", "thin", "mixed"};  // in its order

struct SceneInfo {
  std::string name, title, description;
  SceneKind kind = SceneKind::solids;
  std::filesystem::path file;
  int frames = 120;                                           // default length of a run
  int picture = 0;                                            // frame that shows the main effect
  std::vector<std::pair<std::string, std::string>> variants;  // names and descriptions
};

/// Loads a shipped scene by name or a file by path: TOML, .txt for an IPC scene script, a checkpoint, or a
/// mesh, which falls on the ground (load_mesh_scene).
/// `scale` and `density` replace the scene's, except of a checkpoint. Throws InputError: file, line, key, the
/// fault, and valid values.
Scene load_scene(const std::string& name_or_path, std::optional<double> scale = {},
                 std::optional<double> density = {});
/// Parses a scene from text; `file` is used for messages and for the paths of meshes.
Scene parse_scene(const std::string& text, const std::filesystem::path& file,
                  std::optional<double> scale = {}, std::optional<double> density = {});

/// The largest scale of a scene; the smallest is 1.
constexpr double kMaxScale = 100;
/// Bounds of the density of a scene's hair.
constexpr double kMinDensity = 1e-3, kMaxDensity = 1e4;

/// Shipped scenes by name. Throws InputError when the assets are not found.
std::vector<SceneInfo> list_scenes();

/// The folder that contains scenes/: $STICKSLIP_ASSETS, else beside, above or in ../share of the executable,
/// else the source tree of its build folder. Throws InputError with the searched folders.
std::filesystem::path assets_folder();

}  // namespace stickslip
