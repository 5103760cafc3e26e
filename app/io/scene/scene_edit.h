// Scene files with other settings.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "app/io/scene/scene.h"
#include "gpu/math/quat.h"

namespace stickslip {

/// What can be changed of a running scene.
struct SceneSettings {
  Params params;
  LabParams contact_params;
  std::vector<Material> materials;
  std::vector<double> half_space_mu;
  double scale = 0, density = 0;  // of the scene; 0: the file's
};

/// The text of a scene file with these settings: values that differ from the file's are replaced or added,
/// all else stays as it is, comments too; a variant's settings become the scene's own. Paths that are
/// relative to the folder of `file`, which names it in messages, become absolute, so that the text can be
/// written elsewhere. Throws InputError if the text is no scene, or not the one that the settings are of.
std::string with_settings(const std::string& text, const std::filesystem::path& file,
                          const SceneSettings& wanted);

/// The text without the [[object]] or [[collider]] of this name, and without its pins, forces, joints and
/// springs and what is expected of it; an array is then `without` this body. `scale`: of the scene. Throws
/// InputError: there is none, or joints connect all bodies of the array.
std::string without_object_table(const std::string& text, const std::filesystem::path& file,
                                 const std::string& name, double scale = 1);

/// The [[object]] of this name, perhaps one body of an array, as a table of its own, without its header,
/// under another name and moved by `shift` [m]. Throws InputError: there is none, it is a collider, a script
/// moves its array, the scale makes the array longer, or a position is no list of three numbers.
std::string object_copy(const std::string& text, const std::filesystem::path& file, const std::string& name,
                        const std::string& copy_name, const Vec<double, 3>& shift, double scale = 1);

/// The text in which these objects and colliders have tables of their own, at the end, if they are of an
/// array, which is then `without` them. All keep their names and places. Throws InputError: as
/// without_object_table and object_copy.
std::string with_own_tables(const std::string& text, const std::filesystem::path& file,
                            const std::set<std::string>& names, double scale);

/// The text in which the [[object]] and [[collider]] tables of these names begin at their places after
/// `move`, with the joints that hold them, the ends of their ropes and springs, which keep their lengths,
/// their motions, which turn with them, and the centres of the motions of their pins. Other values stay.
/// `model`: that of the text. `names`: all that joints other than ropes connect. Throws InputError: there is
/// none, it is one object of an array, an array is to be turned, a sequence of files moves it, its ends
/// follow another object, or another object follows it.
std::string with_moved_tables(const std::string& text, const std::filesystem::path& file, const Model& model,
                              const std::set<std::string>& names, const Pose& move);

/// The text without the [[pin]] tables of this object. Throws InputError: there is none.
std::string without_pin_tables(const std::string& text, const std::filesystem::path& file,
                               const std::string& object);

/// The text without the [[joint]] and [[spring]] tables of this object whose name begins with `prefix`.
/// Throws InputError: there is none.
std::string without_tie_tables(const std::string& text, const std::filesystem::path& file,
                               const std::string& object, const std::string& prefix);

/// A file that a scene's text names, or the folder of a sequence of files.
struct NamedPath {
  std::string path;  // as in the text: absolute, or relative to the scene's folder
  bool is_folder = false;
};
/// In no particular order, with repetitions. `file` names the text in messages. Throws InputError: it is no
/// TOML.
std::vector<NamedPath> named_paths(const std::string& text, const std::filesystem::path& file);
/// The text with change(path) in place of each of them; all else stays as it is. Throws InputError.
std::string with_paths(const std::string& text, const std::filesystem::path& file,
                       const std::function<std::string(const std::string&)>& change);

/// with_settings of the text that the scene was parsed from. Throws InputError also for scenes without one.
std::string edited_scene(const Scene& scene, const SceneSettings& wanted);

}  // namespace stickslip
