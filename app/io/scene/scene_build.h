// Converts the parts of a scene file to parts of the Model. Used by scene*.cpp only.
#pragma once

#include <optional>
#include <stdexcept>

#include "app/io/scene/scene.h"
#include "app/io/scene/toml_reader.h"

namespace stickslip {

/// Calls `build`; errors are reported with the place of the table.
template <class F>
decltype(auto) located(const TableReader& table, F&& build) {
  try {
    return build();
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
}

/// Calls `load` with the table's `file`, which may be relative to the scene's folder.
template <class F>
auto read_named_file(TableReader& table, const std::filesystem::path& scene_file, F&& load) {
  const std::filesystem::path file = table.text("file");
  try {
    return load(file.is_absolute() ? file : scene_file.parent_path() / file);
  } catch (const InputError& error) {
    table.fail("file", error.what());
  }
}

/// The refinement of an object of rods: node i of the scene file is node i * `parts`.
struct RefinedRods {
  std::string name;       // of the object or its array
  std::int32_t segments;  // of each strand, in the scene file
  std::int32_t parts;     // into which each of them is divided
  bool closed;

  /// Points of a strand of so many segments.
  std::int32_t points(std::int32_t of) const { return closed ? of : of + 1; }
};

/// Rods whose held ends follow a collider or a solid: found by name, since they may be read before it.
struct FollowingRods {
  TableReader table;
  std::string leader;
  std::vector<std::int32_t> nodes;    // what is held
  std::vector<Vec<double, 3>> roots;  // per such node: the first point of its strand
};

/// Data that all tables of a scene share.
struct SceneSource {
  std::filesystem::path file;
  double scale = 1, density = 1;    // see assets/scenes/README.md
  std::vector<std::string>& notes;  // Scene::notes
};

/// Throws InputError with the nearest name unless `name` is known. `what` is "material", "object", ...
void check_known(const TableReader& at, const std::string& key, const std::string& what,
                 const std::string& name, const std::vector<std::string>& known);

/// True for a solid, and for a rigid body with Body::moves.
bool moves(const Model& model, const Object& object);
/// Names of moving objects and of their arrays, for pins and expectations.
std::vector<std::string> object_names(const Model& model);
/// True when `name` is the object's name, or that of its array.
bool is_called(const Object& object, const std::string& name);

void build_material(TableReader table, const SceneSource& source, Model& model);
/// Reads the table `texture` of a material.
SurfaceTexture read_texture(TableReader table, const std::filesystem::path& scene_file);
void build_object(TableReader table, const SceneSource& source, Model& model,
                  std::vector<RefinedRods>& refined, std::vector<FollowingRods>& following);
/// Builds an object with body = "cloth".
void build_cloth(TableReader& table, const SceneSource& source, Model& model);
/// Builds an object with body = "rigid".
void build_rigid_object(TableReader& table, const SceneSource& source, Model& model);
/// Builds an object with body = "rods". Adds to `refined` where the scene's scale refines it, and to
/// `following` where a collider or a solid moves what is held.
void build_rods(TableReader& table, const SceneSource& source, Model& model,
                std::vector<RefinedRods>& refined, std::vector<FollowingRods>& following);
/// Whether the rods follow a solid; else it is a collider.
bool follows_solid(const FollowingRods& rods, const Model& model);
/// Ties the held ends of `rods` to the solid: by springs of no length to points that
/// move with the tet that is nearest to the strand's root at the start.
void tie_to_solid(const FollowingRods& rods, Model& model);
/// Gives the held ends of `rods` the motion of their collider or rigid body. With a collider that has a
/// sequence each strand moves with the triangle that is nearest to its root at the start.
void follow_collider(const FollowingRods& rods, Model& model);
/// Builds a collider. In a scene with rigid bodies it becomes a fixed or scripted body.
void build_collider(TableReader table, const SceneSource& source, Model& model);
void build_rigid_collider(TableReader& table, const SceneSource& source, Model& model);
void build_joint(TableReader table, Model& model);
void build_spring(TableReader table, Model& model);
void build_half_space(TableReader table, Model& model);
void build_pin(TableReader table, Model& model, const std::vector<RefinedRods>& refined);
void build_force(TableReader table, Model& model, const std::vector<RefinedRods>& refined);
void build_velocity(TableReader table, Model& model, const std::vector<RefinedRods>& refined);
void build_friction(TableReader table, Model& model);
/// Reads a table `motion`; without one the object stands still.
Motion read_motion(std::optional<TableReader> table, const Vec<double, 3>& default_center);
std::vector<Expectation> build_expectations(TableReader table, const Model& model);
/// [steppers]: for each family `true`, or the reason why the expectations do not hold there.
std::vector<FamilyNote> read_families(std::optional<TableReader> table);

}  // namespace stickslip
