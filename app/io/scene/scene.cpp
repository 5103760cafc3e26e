#include "app/io/scene/scene.h"

#include <algorithm>
#include <set>

#include "app/io/checkpoint/checkpoint.h"
#include "app/io/file/byte_cursor.h"
#include "app/io/file/number_text.h"
#include "app/io/ipc/ipc_script.h"
#include "app/io/scene/mesh_scene.h"
#include "app/io/scene/scene_build.h"
#include "app/io/scene/scene_variant.h"
#include "app/io/scene/settings.h"
#include "app/io/scene/toml_reader.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostMaterials = 1000;

std::string read_text(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) throw InputError(file.string() + ": no such scene file");
  return read_bytes(file);
}

CameraStart read_camera(std::optional<TableReader> table) {
  CameraStart camera;
  if (!table) return camera;
  camera.position = table->vec3("position", camera.position);
  camera.target = table->vec3("target", camera.target);
  camera.fov = table->number("fov", {5, 120}, camera.fov);
  if (!(norm(camera.position - camera.target) > 0)) table->fail("position", "must differ from target");
  table->finish();
  return camera;
}

/// `solver` is at the top level of a scene because it is the most important parameter. Scenes with rigid
/// bodies select the velocity solver by default.
void read_solver(TableReader& root, Scene& scene) {
  try {
    if (root.has("solver")) set_solver(scene.params, root.text("solver"));
    else if (!scene.model.bodies.empty()) scene.params.solver = SolverKind::velocity;
    check_solver(scene.params, scene.model);
  } catch (const InputError& error) {
    root.fail(root.has("solver") ? "solver" : "", error.what());
  } catch (const std::invalid_argument& error) {
    root.fail("solver", error.what());
  }
}

SceneKind read_kind(TableReader& root) {
  std::set<SceneKind> kinds;
  for (TableReader& object : root.tables("object")) {
    const std::string body = object.text("body", "deformable");
    kinds.insert(body == "rigid"                     ? SceneKind::rigid
                 : body == "cloth" || body == "rods" ? SceneKind::thin
                                                     : SceneKind::solids);
  }
  return kinds.size() == 1 ? *kinds.begin() : SceneKind::mixed;
}

/// Throws unless the number of strands of some object is free.
void check_for_hair(const Scene& scene) {
  const auto is_hair = [](TableReader& object) {
    return object.text("body", "") == "rods" && (object.has("file") || object.text("shape", "") == "hair");
  };
  TableReader root(scene.source, scene.file);
  if (std::ranges::any_of(root.tables("object"), is_hair)) return;
  throw InputError(scene.file.string() +
                   ": has no rods with shape = \"hair\" or a .hair file, whose strands a density multiplies");
}

SceneInfo read_info(TableReader& root, const fs::path& file) {
  SceneInfo info;
  info.file = file;
  info.name = file.stem().string();
  info.title = root.text("title", info.name);
  info.description = root.text("description", "");
  info.kind = read_kind(root);
  info.frames = root.whole("frames", 1, 1000000, info.frames);
  info.picture = root.whole("picture", 0, info.frames, info.frames / 2);
  for (TableReader& variant : root.tables("variant"))
    info.variants.emplace_back(variant.text("name"), variant.text("description", ""));
  return info;
}

}  // namespace

Scene parse_scene(const std::string& text, const fs::path& file, std::optional<double> scale,
                  std::optional<double> density) {
  TableReader root(text, file);
  Scene scene;
  scene.file = file;
  scene.source = text;
  const SceneInfo info = read_info(root, file);
  scene.name = info.name;
  scene.title = info.title;
  scene.description = info.description;
  scene.frames = info.frames;
  const double own_scale = root.number("scale", {1, kMaxScale}, 1);
  scene.scale = scale.value_or(own_scale);
  const double own_density = root.number("density", {kMinDensity, kMaxDensity}, 1);
  scene.density = density.value_or(own_density);
  if (auto params = root.table("params")) {
    params->settings(&scene.params, param_table());
    params->finish();
  }
  if (auto contact = root.table("contact")) {
    contact->settings(&scene.contact_params, lab_param_table());
    contact->finish();
  }
  scene.camera = read_camera(root.table("camera"));

  const SceneSource source{file, scene.scale, scene.density, scene.notes};
  std::vector<TableReader> materials = root.tables("material");
  if (materials.size() > kMostMaterials)
    root.fail("material", "there are " + std::to_string(materials.size()) + " of them; a scene has at most " +
                              std::to_string(kMostMaterials) + ", because every pair has its friction");
  for (TableReader& table : materials) build_material(table, source, scene.model);
  std::vector<RefinedRods> refined;
  std::vector<FollowingRods> following;
  for (TableReader& table : root.tables("object"))
    build_object(table, source, scene.model, refined, following);
  for (TableReader& table : root.tables("collider")) build_collider(table, source, scene.model);
  for (const FollowingRods& rods : following) {
    if (follows_solid(rods, scene.model)) tie_to_solid(rods, scene.model);
    else follow_collider(rods, scene.model);
  }
  for (TableReader& table : root.tables("joint")) build_joint(table, scene.model);
  for (TableReader& table : root.tables("spring")) build_spring(table, scene.model);
  for (TableReader& table : root.tables("half_space")) build_half_space(table, scene.model);
  for (TableReader& table : root.tables("velocity")) build_velocity(table, scene.model, refined);
  for (TableReader& table : root.tables("pin")) build_pin(table, scene.model, refined);
  for (TableReader& table : root.tables("force")) build_force(table, scene.model, refined);
  for (TableReader& table : root.tables("friction")) build_friction(table, scene.model);
  read_solver(root, scene);
  if (auto expect = root.table("expect")) scene.expect = build_expectations(*expect, scene.model);
  scene.families = read_families(root.table("steppers"));
  scene.variants = build_variants(root.tables("variant"), scene);
  root.finish();
  if (object_names(scene.model).empty()) root.fail("", "the scene has no [[object]]");
  try {
    finalize(scene.model);
  } catch (const std::invalid_argument& error) {
    root.fail("", error.what());
  }
  return scene;
}

std::string Scene::unmet_reason() const {
  for (const FamilyNote& note : families)
    if (note.family == stepper_family(params.solver)) return note.reason;
  return {};
}

std::vector<SceneInfo> list_scenes() {
  std::vector<SceneInfo> scenes;
  for (const fs::directory_entry& entry : fs::directory_iterator(assets_folder() / "scenes")) {
    if (entry.path().extension() != ".toml") continue;
    TableReader root(read_text(entry.path()), entry.path());
    scenes.push_back(read_info(root, entry.path()));
  }
  std::sort(scenes.begin(), scenes.end(),
            [](const SceneInfo& a, const SceneInfo& b) { return a.name < b.name; });
  return scenes;
}

Scene load_scene(const std::string& name_or_path, std::optional<double> scale,
                 std::optional<double> density) {
  if (scale && !(*scale >= 1 && *scale <= kMaxScale))
    throw InputError("scale " + number_text(*scale) + " must be in [1, " + number_text(kMaxScale) + "]");
  if (density && !(*density >= kMinDensity && *density <= kMaxDensity))
    throw InputError("density " + number_text(*density) + " must be in [" + number_text(kMinDensity) + ", " +
                     number_text(kMaxDensity) + "]");
  const fs::path path(name_or_path);
  if (is_ipc_script(path)) {
    if (scale || density)
      throw InputError(path.string() + ": an IPC scene script has no scale and no density");
    return load_ipc_script(path);
  }
  if (is_checkpoint_name(path)) {
    if (scale || density) throw InputError(path.string() + ": a checkpoint has its scale and density");
    return load_checkpoint(path);
  }
  const auto checked = [&](Scene scene) {
    if (density && *density != 1) check_for_hair(scene);
    return scene;
  };
  if (is_mesh_name(path)) return checked(load_mesh_scene(path, scale, density));
  if (path.has_parent_path() || path.extension() == ".toml")
    return checked(parse_scene(read_text(path), path, scale, density));

  const fs::path shipped = assets_folder() / "scenes" / (name_or_path + ".toml");
  if (std::error_code error; fs::is_regular_file(shipped, error))
    return checked(parse_scene(read_text(shipped), shipped, scale, density));

  std::vector<std::string_view> names;
  const std::vector<SceneInfo> scenes = list_scenes();
  names.reserve(scenes.size());
  for (const SceneInfo& scene : scenes) names.push_back(scene.name);
  const std::string nearest = nearest_name(names, name_or_path);
  std::string message = "there is no scene '" + name_or_path + "'";
  if (!nearest.empty()) message += "; did you mean '" + nearest + "'?";
  message += " (stickslip list scenes shows all; a file needs its path)";
  throw InputError(message);
}

}  // namespace stickslip
