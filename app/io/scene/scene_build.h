// The parts of a scene file that become parts of the Model. Used by scene*.cpp only.
#pragma once

#include <optional>
#include <stdexcept>

#include "app/io/scene/scene.h"
#include "app/io/scene/toml_reader.h"

namespace stickslip {

/// Runs `build` and reports what it refuses at the table.
template <class F>
decltype(auto) located(const TableReader& table, F&& build) {
  try {
    return build();
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
}

/// What `load` makes of the table's `file`, which may be relative to the scene's folder.
template <class F>
auto read_named_file(TableReader& table, const std::filesystem::path& scene_file, F&& load) {
  const std::filesystem::path file = table.text("file");
  try {
    return load(file.is_absolute() ? file : scene_file.parent_path() / file);
  } catch (const InputError& error) {
    table.fail("file", error.what());
  }
}

/// What all tables of a scene share.
struct SceneSource {
  std::filesystem::path file;
  double scale = 1;  // assets/scenes/README.md says what it does
};

/// The named row, or InputError with the nearest name. `what` is "material", "object", ...
void check_known(const TableReader& at, const std::string& key, const std::string& what,
                 const std::string& name, const std::vector<std::string>& known);

/// True of a solid or a rigid body that moves by itself.
bool moves(const Model& model, const Object& object);
/// Names of those, and of arrays of them, that a pin or an expectation may refer to.
std::vector<std::string> object_names(const Model& model);
/// True when `name` is the object's, or that of the array it belongs to.
bool is_called(const Object& object, const std::string& name);

void build_material(TableReader table, const SceneSource& source, Model& model);
/// A material's table `texture`.
SurfaceTexture read_texture(TableReader table, const std::filesystem::path& scene_file);
void build_object(TableReader table, const SceneSource& source, Model& model);
/// With body = "rigid".
void build_rigid_object(TableReader& table, const SceneSource& source, Model& model);
/// A collider; a body that stands still or follows its motion where the scene has rigid bodies.
void build_collider(TableReader table, const SceneSource& source, Model& model);
void build_rigid_collider(TableReader& table, const SceneSource& source, Model& model);
void build_joint(TableReader table, Model& model);
void build_half_space(TableReader table, Model& model);
void build_pin(TableReader table, Model& model);
void build_force(TableReader table, Model& model);
void build_velocity(TableReader table, Model& model);
void build_friction(TableReader table, Model& model);
/// A table `motion`; none stands still.
Motion read_motion(std::optional<TableReader> table, const Vec<double, 3>& default_center);
std::vector<Expectation> build_expectations(TableReader table, const Model& model);

}  // namespace stickslip
