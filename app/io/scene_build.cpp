#include "app/io/scene_build.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "app/io/memory.h"
#include "app/io/scene_shape.h"
#include "gpu/model/affine.h"
#include "gpu/model/rotation.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

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
  const std::size_t dot = std::min(name.find('.'), name.size());
  const bool numbered =
      dot + 1 < name.size() && name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  if (dot == 0 || (dot < name.size() && !numbered) || name.find_first_of(" =") != std::string::npos)
    table.fail(
        "name",
        "'" + name + "' must not be empty or contain spaces, '=' or dots, but for one in front of a number");
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

/// One factor, or one for each axis of the mesh (a negative one mirrors it).
Vec3d read_scale(TableReader& table) {
  if (!table.is_list("scale")) return Vec3d::filled(table.number("scale", Range::positive(), 1));
  const Vec3d scale = table.vec3("scale");
  for (int c = 0; c < 3; ++c)
    if (scale[c] == 0) table.fail("scale", "must not be zero");
  return scale;
}

/// Rotation vector [degrees], scale and position, as applied to a mesh around its origin.
struct Placement {
  Vec3d position;
  Mat<double, 3> linear;
  Vec3d apply(const Vec3d& p) const { return position + linear * p; }
};

Placement read_placement(TableReader& table) {
  const Vec3d position = table.vec3("position", {0, 0, 0});
  Mat<double, 3> linear = rotation_matrix_degrees(table.vec3("rotation", {0, 0, 0}));
  const Vec3d scale = read_scale(table);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) linear(r, c) *= scale[c];
  return {position, linear};
}

/// Where an instance of an array stands: the body's points p at R p + offset.
struct Instance {
  Vec3d offset{0, 0, 0};
  Mat<double, 3> rotation = Mat<double, 3>::identity();
};

void check_total(const TableReader& table, const char* key, const char* what, double tets) {
  if (const std::string shortage = memory_shortage(kBytesPerTet * tets); !shortage.empty())
    table.fail(key, std::string(what) + " " + shortage);
}

/// What the scene's scale does to an object.
struct Growth {
  double refinement = 1;  // its edge is divided by this
  double layers = 1;      // its array's count along y is multiplied by this
};

Growth read_growth(TableReader& table, double scale) {
  const std::string grow = table.text("grow", "edge");
  check_known(table, "grow", "way to grow", grow, {"edge", "count"});
  if (grow == "edge") return {scale, 1};
  if (!table.has("count"))
    table.fail("grow", "\"count\" belongs to an array: give count = [x, y, z] as well");
  return {1, scale};
}

/// `ring = { count, turn, center }`: each instance is turned about the center from the one before.
std::vector<Instance> read_ring(TableReader& ring, const Vec3d& position, std::size_t tets) {
  const int count = ring.whole("count", 1, 1000, 0);
  if (count == 0) ring.fail("count", "must be a whole number in [1, 1000]");
  check_total(ring, "count", "the array", count * static_cast<double>(tets));
  const Vec3d turn = ring.vec3("turn"), center = ring.vec3("center", position);
  ring.finish();
  std::vector<Instance> instances;
  for (int i = 0; i < count; ++i) {
    const Mat<double, 3> rotation = rotation_matrix_degrees(double(i) * turn);
    instances.push_back({center - rotation * center, rotation});
  }
  return instances;
}

/// The instances of an array of bodies with `tets` (or triangles, or points) each, with `layers` times its
/// count along y; one where the body stands without an array.
std::vector<Instance> read_instances(TableReader& table, const Vec3d& position, std::size_t tets,
                                     double layers) {
  std::optional<TableReader> ring = table.table("ring");
  if (ring && table.has("count")) table.fail("ring", "give either ring or count");
  if (!table.has("count")) {
    for (const char* key : {"spacing", "jitter", "tumble", "seed"})
      if (table.has(key)) table.fail(key, "belongs to an array: give count = [x, y, z] as well");
    return ring ? read_ring(*ring, position, tets) : std::vector<Instance>(1);
  }
  Vec3d count = table.vec3("count");
  for (int c = 0; c < 3; ++c)
    if (count[c] < 1 || count[c] > 1000 || count[c] != std::floor(count[c]))
      table.fail("count", "must be three whole numbers in [1, 1000]");
  count[1] = std::round(count[1] * layers);
  check_total(table, "count", "the array", count[0] * count[1] * count[2] * static_cast<double>(tets));
  const Vec3d spacing = table.vec3("spacing");
  const double jitter = table.number("jitter", Range::not_negative(), 0);
  const double tumble = table.number("tumble", {0, 180}, 0);
  std::mt19937_64 random(static_cast<std::uint64_t>(table.whole("seed", 0, 1 << 30, 1)));
  // Not std::uniform_real_distribution: its numbers differ between standard libraries.
  const auto noise = [&](double size) { return size * (static_cast<double>(random() >> 11) * 0x1p-52 - 1); };
  std::vector<Instance> instances;
  for (int y = 0; y < count[1]; ++y)
    for (int z = 0; z < count[2]; ++z)
      for (int x = 0; x < count[0]; ++x) {
        const double dx = noise(jitter), dy = noise(jitter), dz = noise(jitter);
        Instance instance{{x * spacing[0] + dx, y * spacing[1] + dy, z * spacing[2] + dz}};
        if (tumble > 0) {
          const double rx = noise(tumble), ry = noise(tumble), rz = noise(tumble);
          instance.rotation = rotation_matrix_degrees({rx, ry, rz});
          instance.offset = instance.offset + position - instance.rotation * position;
        }
        instances.push_back(instance);
      }
  return instances;
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

void build_object(TableReader table, const SceneSource& source, Model& model) {
  const std::string name = read_new_name(table, model);
  const Growth growth = read_growth(table, source.scale);
  const TetMesh mesh = read_solid(table, source.file, growth.refinement);
  const Placement placement = read_placement(table);
  const std::int32_t material = read_material(table, model);
  const std::string body = table.text("body", "deformable");
  check_known(table, "body", "kind of body", body, {"deformable", "affine"});
  const Vec3d velocity = table.vec3("velocity", {0, 0, 0}), spin = table.vec3("angular_velocity", {0, 0, 0});
  const std::vector<Vec<float, 3>> colors = read_colors(table);
  const std::vector<Instance> instances =
      read_instances(table, placement.position, mesh.tets.size(), growth.layers);
  table.finish();
  check_total(table, "", "the scene up to here",
              static_cast<double>(model.tets.size() + instances.size() * mesh.tets.size()));

  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& [offset, turn] = instances[i];
    std::vector<Vec3d> nodes;
    for (const Vec3d& p : mesh.nodes) nodes.push_back(turn * placement.apply(p) + offset);
    const std::string instance = instances.size() == 1 ? name : name + "." + std::to_string(i);
    Object& object = located(table, [&]() -> Object& {
      return body == "affine" ? add_affine(model, instance, nodes, mesh.tets, material)
                              : add_solid(model, instance, nodes, mesh.tets, material);
    });
    object.color = colors[i % colors.size()];
    const Vec3d center = turn * placement.position + offset;
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n)
      model.velocities[n] = turn * velocity + cross(turn * spin, model.positions[n] - center);
  }
}

void build_collider(TableReader table, const SceneSource& source, Model& model) {
  const std::string name = read_new_name(table, model);
  const std::optional<PointKind> points = read_point_kind(table);
  PointMesh point_mesh;
  SurfaceMesh mesh;
  if (points) {
    point_mesh = read_points(table, source.file, *points);
  } else {
    mesh = read_surface(table, source.file, source.scale);
  }
  const Placement placement = read_placement(table);
  const std::int32_t material = read_material(table, model);
  const Motion motion = read_motion(table.table("motion"), placement.position);  // an array moves as one
  const std::vector<Vec<float, 3>> colors = read_colors(table);
  const std::vector<Instance> instances =
      read_instances(table, placement.position, mesh.triangles.size() + point_mesh.nodes.size(), 1);
  table.finish();

  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& [offset, turn] = instances[i];
    std::vector<Vec3d> nodes;
    for (const Vec3d& p : points ? point_mesh.nodes : mesh.nodes)
      nodes.push_back(turn * placement.apply(p) + offset);
    const std::string instance = instances.size() == 1 ? name : name + "." + std::to_string(i);
    located(table, [&]() -> Object& {
      return points ? add_point_collider(model, instance, nodes, point_mesh.segments, material, motion)
                    : add_collider(model, instance, nodes, mesh.triangles, material, motion);
    }).color = colors[i % colors.size()];
  }
}

void build_half_space(TableReader table, Model& model) {
  HalfSpace plane;
  const Vec3d normal = table.vec3("normal", {0, 1, 0});
  if (!(norm(normal) > 0)) table.fail("normal", "must not be zero");
  plane.normal = normalized(normal);
  plane.offset = dot(plane.normal, table.vec3("point", {0, 0, 0}));
  plane.mu = table.number("mu", {0, 10}, plane.mu);
  plane.mu_of_pair = table.flag("mu_of_pair", plane.mu_of_pair);
  table.finish();
  model.half_spaces.push_back(plane);
}

}  // namespace stickslip
