#include "app/io/scene_build.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "app/io/mesh_gen.h"
#include "app/io/obj.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Runs `build` and reports what it refuses at the table.
template <class F>
decltype(auto) located(const TableReader& table, F&& build) {
  try {
    return build();
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
}

Vec3d positive_size(TableReader& table) {
  const Vec3d size = table.vec3("size");
  for (int c = 0; c < 3; ++c)
    if (!(size[c] > 0)) table.fail("size", "must be positive");
  return size;
}

/// The solids that objects and colliders can be. A `coarse` one has a default for the edge length.
TetMesh read_solid_shape(TableReader& table, const std::string& shape, bool coarse) {
  const Range positive = Range::positive();
  // A collider is rigid: flat faces need no inner nodes, round ones enough to look round.
  const auto edge = [&](double coarse_edge) {
    return coarse ? table.number("edge", positive, coarse_edge) : table.number("edge", positive);
  };
  if (shape == "box") {
    const Vec3d size = positive_size(table);
    const double e = edge(2 * std::max({size[0], size[1], size[2]}));
    return located(table, [&] { return make_box(size, e); });
  }
  if (shape == "bar") {
    const double length = table.number("length", positive), width = table.number("width", positive);
    const double e = edge(2 * std::max(length, width));
    return located(table, [&] { return make_bar(length, width, e); });
  }
  const double radius = table.number("radius", positive);
  if (shape == "sphere") {
    const double e = edge(radius / 6);
    return located(table, [&] { return make_sphere(radius, e); });
  }
  if (shape == "cylinder") {
    const double height = table.number("height", positive), e = edge(radius / 5);
    return located(table, [&] { return make_cylinder(radius, height, e); });
  }
  const double tube = table.number("tube_radius", positive), e = edge(tube / 3);
  return located(table, [&] { return make_torus(radius, tube, e); });
}

const std::vector<std::string> solid_shapes{"box", "sphere", "cylinder", "bar", "torus"};
const std::vector<std::string> surface_shapes{"box", "sphere", "cylinder", "bar", "torus", "plane", "ramp"};

SurfaceMesh read_surface(TableReader& table, const std::filesystem::path& scene_file) {
  if (table.has("file")) {
    if (table.has("shape")) table.fail("file", "give either shape or file");
    const std::filesystem::path file = table.text("file");
    try {
      return load_obj(file.is_absolute() ? file : scene_file.parent_path() / file);
    } catch (const InputError& error) {
      table.fail("file", error.what());
    }
  }
  const std::string shape = table.text("shape");
  check_known(table, "shape", "shape", shape, surface_shapes);
  const Range positive = Range::positive();
  if (shape == "ramp") {
    const double length = table.number("length", positive), height = table.number("height", positive);
    return make_ramp(length, height, table.number("width", positive));
  }
  if (shape == "plane") {
    const std::vector<double> size = table.numbers("size", 2);
    const double edge = table.number("edge", positive, 2 * std::max(size[0], size[1]));
    return located(table, [&] { return make_plane(size[0], size[1], edge); });
  }
  return boundary_surface(read_solid_shape(table, shape, true));
}

std::int32_t read_material(TableReader& table, const Model& model) {
  if (model.materials.empty()) table.fail("", "needs a [[material]] in the scene");
  const std::string name =
      model.materials.size() == 1 ? table.text("material", model.material_names[0]) : table.text("material");
  check_known(table, "material", "material", name, model.material_names);
  const auto found = std::find(model.material_names.begin(), model.material_names.end(), name);
  return static_cast<std::int32_t>(found - model.material_names.begin());
}

std::string read_new_name(TableReader& table, const Model& model) {
  std::string name = table.text("name");
  if (name.empty() || name.find_first_of(" .=") != std::string::npos)
    table.fail("name", "'" + name + "' must not be empty or contain spaces, dots or '='");
  for (const Object& object : model.objects)
    if (is_called(object, name)) table.fail("name", "'" + name + "' is the name of another object");
  return name;
}

Vec<float, 3> checked_color(const TableReader& table, const char* key, const Vec3d& color) {
  for (int c = 0; c < 3; ++c)
    if (color[c] < 0 || color[c] > 1) table.fail(key, "must be three numbers in [0, 1]");
  return color.cast<float>();
}

Vec<float, 3> read_color(TableReader& table) {
  return checked_color(table, "color", table.vec3("color", {0.7, 0.7, 0.7}));
}

/// One color for all instances, or a list that they take in turn.
std::vector<Vec<float, 3>> read_colors(TableReader& table) {
  if (!table.has("colors")) return {read_color(table)};
  if (table.has("color")) table.fail("colors", "give either color or colors");
  std::vector<Vec<float, 3>> colors;
  for (const Vec3d& color : table.vec3s("colors")) colors.push_back(checked_color(table, "colors", color));
  return colors;
}

/// Rotation vector [degrees], scale and position, as applied to a mesh around its origin.
struct Placement {
  Vec3d position;
  Mat<double, 3> linear;
  Vec3d apply(const Vec3d& p) const { return position + linear * p; }
};

Placement read_placement(TableReader& table) {
  const Vec3d position = table.vec3("position", {0, 0, 0});
  const Mat<double, 3> rotation = rotation_matrix_degrees(table.vec3("rotation", {0, 0, 0}));
  return {position, table.number("scale", Range::positive(), 1) * rotation};
}

/// Offsets of the instances of an array, [0, 0, 0] alone without one.
std::vector<Vec3d> read_instances(TableReader& table) {
  if (!table.has("count")) {
    for (const char* key : {"spacing", "jitter", "seed"})
      if (table.has(key)) table.fail(key, "belongs to an array: give count = [x, y, z] as well");
    return {{0, 0, 0}};
  }
  const Vec3d count = table.vec3("count");
  for (int c = 0; c < 3; ++c)
    if (count[c] < 1 || count[c] > 1000 || count[c] != std::floor(count[c]))
      table.fail("count", "must be three whole numbers in [1, 1000]");
  const Vec3d spacing = table.vec3("spacing");
  const double jitter = table.number("jitter", Range::not_negative(), 0);
  std::mt19937_64 random(static_cast<std::uint64_t>(table.whole("seed", 0, 1 << 30, 1)));
  // Not std::uniform_real_distribution: its numbers differ between standard libraries.
  const auto noise = [&] { return jitter * (static_cast<double>(random() >> 11) * 0x1p-52 - 1); };
  std::vector<Vec3d> offsets;
  for (int y = 0; y < count[1]; ++y)
    for (int z = 0; z < count[2]; ++z)
      for (int x = 0; x < count[0]; ++x) {
        const double dx = noise(), dy = noise(), dz = noise();
        offsets.push_back({x * spacing[0] + dx, y * spacing[1] + dy, z * spacing[2] + dz});
      }
  return offsets;
}

Motion read_motion(std::optional<TableReader> table, const Vec3d& default_center) {
  Motion motion;
  motion.center = default_center;
  if (!table) return motion;
  const bool hold = table->flag("hold", false);
  motion.velocity = table->vec3("velocity", motion.velocity);
  motion.angular_velocity = table->vec3("angular_velocity", motion.angular_velocity);
  motion.center = table->vec3("center", default_center);
  motion.start = table->number("start", Range::not_negative(), 0);
  motion.end = table->number("end", {motion.start, 1e30}, 1e30);
  for (TableReader& key : table->tables("key")) {
    motion.keys.push_back({key.number("time", Range::not_negative()), key.vec3("translation", {0, 0, 0}),
                           key.vec3("rotation", {0, 0, 0})});
    key.finish();
    if (motion.keys.size() > 1 && motion.keys.back().time <= motion.keys.end()[-2].time)
      key.fail("time", "keys must come in ascending time");
  }
  if (hold && !motion.is_static()) table->fail("hold", "a held body cannot move: remove hold or the motion");
  table->finish();
  return motion;
}

}  // namespace

void check_known(const TableReader& at, const std::string& key, const std::string& what,
                 const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string nearest = nearest_name(views, name);
  std::string message = "there is no " + what + " '" + name + "'";
  if (!nearest.empty()) {
    message += "; did you mean '" + nearest + "'?";
  } else {
    message += "; there is:";
    for (const std::string& k : known) message += " " + k;
  }
  at.fail(key, message);
}

bool is_called(const Object& object, const std::string& name) {
  return object.name == name || object.name.substr(0, object.name.find('.')) == name;
}

std::vector<std::string> object_names(const Model& model) {
  std::vector<std::string> names;
  for (const Object& object : model.objects) {
    if (object.tet_begin == object.tet_end) continue;
    names.push_back(object.name);
    const std::string array = object.name.substr(0, object.name.find('.'));
    if (std::find(names.begin(), names.end(), array) == names.end()) names.push_back(array);
  }
  return names;
}

void build_material(TableReader table, Model& model) {
  std::string name = table.text("name");
  if (name.empty() || name.find_first_of(" .=") != std::string::npos)
    table.fail("name", "'" + name + "' must not be empty or contain spaces, dots or '='");
  if (std::find(model.material_names.begin(), model.material_names.end(), name) != model.material_names.end())
    table.fail("name", "'" + name + "' is the name of another material");
  Material material;
  table.settings(&material, material_table());
  table.finish();
  model.material_names.push_back(name);
  model.materials.push_back(material);
}

void build_object(TableReader table, Model& model) {
  if (table.has("file"))
    table.fail("file", "an OBJ surface has no inside: load it as a [[collider]], or give a shape");
  const std::string name = read_new_name(table, model);
  const std::string shape = table.text("shape");
  check_known(table, "shape", "shape", shape, solid_shapes);
  const TetMesh mesh = read_solid_shape(table, shape, false);
  const Placement placement = read_placement(table);
  const std::int32_t material = read_material(table, model);
  const Vec3d velocity = table.vec3("velocity", {0, 0, 0}), spin = table.vec3("angular_velocity", {0, 0, 0});
  const std::vector<Vec<float, 3>> colors = read_colors(table);
  const std::vector<Vec3d> offsets = read_instances(table);
  table.finish();

  for (std::size_t i = 0; i < offsets.size(); ++i) {
    std::vector<Vec3d> nodes;
    for (const Vec3d& p : mesh.nodes) nodes.push_back(placement.apply(p) + offsets[i]);
    const std::string instance = offsets.size() == 1 ? name : name + "." + std::to_string(i);
    Object& object =
        located(table, [&]() -> Object& { return add_solid(model, instance, nodes, mesh.tets, material); });
    object.color = colors[i % colors.size()];
    const Vec3d center = placement.position + offsets[i];
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n)
      model.velocities[n] = velocity + cross(spin, model.positions[n] - center);
  }
}

void build_collider(TableReader table, const std::filesystem::path& scene_file, Model& model) {
  const std::string name = read_new_name(table, model);
  SurfaceMesh mesh = read_surface(table, scene_file);
  const Placement placement = read_placement(table);
  for (Vec3d& p : mesh.nodes) p = placement.apply(p);
  const std::int32_t material = read_material(table, model);
  const Motion motion = read_motion(table.table("motion"), placement.position);
  const Vec<float, 3> color = read_color(table);
  table.finish();
  located(table, [&]() -> Object& {
    return add_collider(model, name, mesh.nodes, mesh.triangles, material, motion);
  }).color = color;
}

void build_half_space(TableReader table, Model& model) {
  HalfSpace plane;
  const Vec3d normal = table.vec3("normal", {0, 1, 0});
  if (!(norm(normal) > 0)) table.fail("normal", "must not be zero");
  plane.normal = normalized(normal);
  plane.offset = dot(plane.normal, table.vec3("point", {0, 0, 0}));
  plane.mu = table.number("mu", {0, 10}, plane.mu);
  table.finish();
  model.half_spaces.push_back(plane);
}

void build_pin(TableReader table, Model& model) {
  const std::string name = table.text("object");
  check_known(table, "object", "object", name, object_names(model));
  if (table.has("box") == table.has("nodes"))
    table.fail("", "needs either box = { min, max } or nodes = [...]");
  std::optional<TableReader> box = table.table("box");
  Vec3d low{0, 0, 0}, high{0, 0, 0};
  if (box) {
    low = box->vec3("min");
    high = box->vec3("max");
    box->finish();
  }
  ScriptedNodes script;
  for (const Object& object : model.objects) {
    if (!is_called(object, name)) continue;
    if (!box)
      for (const std::int32_t i : table.indices("nodes", object.node_end - object.node_begin))
        script.nodes.push_back(object.node_begin + i);
    for (std::int32_t i = object.node_begin; box && i < object.node_end; ++i) {
      const Vec3d& p = model.positions[i];
      if (min(p, low) == low && max(p, high) == high) script.nodes.push_back(i);
    }
  }
  if (script.nodes.empty()) table.fail("box", "holds no node of '" + name + "'");
  Vec3d center{0, 0, 0};
  for (const std::int32_t i : script.nodes) center += model.positions[i] / double(script.nodes.size());
  script.motion = read_motion(table.table("motion"), center);
  table.finish();
  model.scripted.push_back(std::move(script));
}

}  // namespace stickslip
