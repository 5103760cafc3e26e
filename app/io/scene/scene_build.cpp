#include "app/io/scene/scene_build.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "app/io/file/memory.h"
#include "app/io/mesh/point_cache.h"
#include "app/io/scene/scene_array.h"
#include "app/io/scene/scene_shape.h"
#include "gpu/model/affine.h"
#include "gpu/model/frames.h"
#include "gpu/model/lattice.h"
#include "gpu/model/tet10.h"

namespace stickslip {
namespace {

namespace fs = std::filesystem;
using Vec3d = Vec<double, 3>;

constexpr std::size_t kMostListed = 30;

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
    for (std::size_t i = 0; i < std::min(known.size(), kMostListed); ++i) message += " " + known[i];
    if (known.size() > kMostListed) message += " and " + std::to_string(known.size() - kMostListed) + " more";
  }
  at.fail(key, message);
}

bool is_called(const Object& object, const std::string& name) {
  return object.name == name || object.name.substr(0, object.name.find('.')) == name;
}

bool moves(const Model& model, const Object& object) {
  return object.is_rigid() ? model.bodies[object.body].moves : object.is_movable();
}

std::vector<std::string> object_names(const Model& model) {
  std::vector<std::string> names;
  std::string last;  // array of the previous object: its instances are consecutive
  for (const Object& object : model.objects) {
    if (!moves(model, object)) continue;
    names.push_back(object.name);
    const std::string array = object.name.substr(0, object.name.find('.'));
    if (array != last) names.push_back(array);
    last = array;
  }
  return names;
}

void build_material(TableReader table, const SceneSource& source, Model& model) {
  std::string name = table.text("name");
  if (name.empty() || name.find_first_of(" .=\t\n\r") != std::string::npos)
    table.fail("name", "'" + name + "' must not be empty or contain spaces, dots or '='");
  if (name == "contact")
    table.fail("name", "'contact' stands for the contact solvers in --set contact.KEY=VALUE");
  if (std::find(model.material_names.begin(), model.material_names.end(), name) != model.material_names.end())
    table.fail("name", "'" + name + "' is the name of another material");
  Material material;
  table.settings(&material, material_table());
  if (auto texture = table.table("texture")) {
    model.textures.push_back(read_texture(*texture, source.file));
    model.textures.back().material = static_cast<std::int32_t>(model.materials.size());
    if (model.textures.back().kind == TextureKind::direction &&
        material.friction_kind == FrictionKind::isotropic)
      table.fail("texture", "a direction map needs friction_kind = \"elliptic\" or \"matchstick\"");
  }
  table.finish();
  model.material_names.push_back(name);
  model.materials.push_back(material);
}

namespace {

/// `sequence = { folder or file, dt, first }`: positions of a collider's nodes at dt, 2 dt, ....
struct Sequence {
  std::vector<std::vector<Vec3d>> frames;
  double dt = 0;
};

/// Whether two surfaces join the same nodes in the same order of triangles, whatever their orientation.
bool same_topology(const SurfaceMesh& a, const SurfaceMesh& b) {
  const auto sorted = [](Vec3i t) {
    std::sort(t.v, t.v + 3);
    return t;
  };
  return std::ranges::equal(a.triangles, b.triangles,
                            [&](const Vec3i& s, const Vec3i& t) { return sorted(s) == sorted(t); });
}

/// The least number above `number` of a mesh in `folder` whose name is a number; -1 for none.
long next_frame(const fs::path& folder, const std::string& extension, int number) {
  long least = -1;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string(), end = entry.path().extension().string();
    if (end != extension && end != ".obj") continue;
    if (name.empty() || name.size() > 9 ||
        !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    const long found = std::stol(name);
    if (found > number && (least < 0 || found < least)) least = found;
  }
  return least;
}

/// What the nodes of all positions have to match.
struct SequenceOf {
  std::optional<PointKind> points;  // of a collider of points or segments
  const SurfaceMesh& mesh;          // the collider's own, unless it consists of points
  std::size_t nodes;
};

/// Throws unless positions of `found` nodes from `file` fit, and all of them into memory.
void check_frame(const TableReader& table, const fs::path& file, std::size_t found, std::size_t nodes,
                 std::size_t frames) {
  if (found != nodes)
    table.fail("sequence", file.string() + " has " + std::to_string(found) + " nodes, and the collider " +
                               std::to_string(nodes));
  const double bytes = 48.0 * static_cast<double>(nodes) * static_cast<double>(frames);
  if (const std::string shortage = memory_shortage(bytes); !shortage.empty())
    table.fail("sequence", shortage);
}

std::vector<std::vector<Vec3d>> read_folder(TableReader& table, const fs::path& folder, int first,
                                            const SequenceOf& of) {
  std::vector<std::vector<Vec3d>> frames;
  const std::string own = fs::path(table.text("file")).extension().string();
  for (int number = first;; ++number) {
    std::error_code error;
    fs::path file = folder / (std::to_string(number) + own);
    if (!fs::is_regular_file(file, error)) file.replace_extension(".obj");
    if (!fs::is_regular_file(file, error)) {
      const long next = frames.empty() ? -1 : next_frame(folder, own, number);
      if (next < 0) break;
      table.fail("sequence", folder.string() + " has a file " + std::to_string(next) +
                                 ", but none with number " + std::to_string(number));
    }
    bool is_same = true;
    try {
      if (of.points) {
        frames.push_back(load_point_mesh(file, *of.points).nodes);
      } else {
        SurfaceMesh frame = load_surface(file);
        is_same = frame.nodes.size() != of.nodes || same_topology(frame, of.mesh);
        frames.push_back(std::move(frame.nodes));
      }
    } catch (const InputError& fault) {
      table.fail("sequence", fault.what());
    }
    if (!is_same) table.fail("sequence", file.string() + " has other triangles than the collider");
    check_frame(table, file, frames.back().size(), of.nodes, frames.size());
  }
  if (frames.empty())
    table.fail("sequence", "there is no file " + (folder / (std::to_string(first) + own)).string());
  return frames;
}

/// `entry`: the table `sequence`, which names the point cache `file`.
Sequence read_point_cache(TableReader& table, TableReader& entry, const fs::path& file, std::size_t nodes) {
  PointCache cache;
  try {
    cache = load_point_cache(file);
  } catch (const InputError& fault) {
    table.fail("sequence", fault.what());
  }
  const int first = entry.whole("first", 0, 1000000000, 0);
  if (static_cast<std::size_t>(first) >= cache.samples.size())
    entry.fail("first",
               file.string() + " has " + std::to_string(cache.samples.size()) + " samples, counted from 0");
  check_frame(table, file, cache.samples.front().size(), nodes, cache.samples.size());
  Sequence sequence;
  if (!entry.has("dt") && !(cache.dt > 0))
    entry.fail("", "needs dt, the seconds from sample to sample, which " + file.string() + " does not say");
  sequence.dt = entry.number("dt", Range::positive(), cache.dt);
  cache.samples.erase(cache.samples.begin(), cache.samples.begin() + first);
  sequence.frames = std::move(cache.samples);
  return sequence;
}

Sequence read_sequence(TableReader& table, const SceneSource& source, const SequenceOf& of) {
  std::optional<TableReader> entry = table.table("sequence");
  if (!entry) return {};
  if (!table.has("file")) table.fail("sequence", "needs a file, whose nodes it moves");
  if (entry->has("file") == entry->has("folder"))
    entry->fail("", "needs either the folder of numbered meshes or file, a point cache");
  const fs::path place = source.file.parent_path() / entry->text(entry->has("file") ? "file" : "folder");
  Sequence sequence;
  if (entry->has("file")) {
    sequence = read_point_cache(table, *entry, place, of.nodes);
  } else {
    sequence.dt = entry->number("dt", Range::positive());
    sequence.frames = read_folder(table, place, entry->whole("first", 0, 1000000000, 0), of);
  }
  entry->finish();
  return sequence;
}

}  // namespace

void build_object(TableReader table, const SceneSource& source, Model& model,
                  std::vector<RefinedRods>& refined, std::vector<FollowingRods>& following) {
  const std::string body = table.text("body", "deformable");
  check_known(table, "body", "kind of body", body,
              {"deformable", "cloth", "rods", "frames", "affine", "rigid"});
  if (body == "rigid") return build_rigid_object(table, source, model);
  if (body == "cloth") return build_cloth(table, source, model);
  if (body == "rods") return build_rods(table, source, model, refined, following);
  const std::string name = read_new_name(table, model);
  const std::string element = table.text("element", "tet4");
  check_known(table, "element", "kind of element", element, {"tet4", "tet10"});
  const bool ten_node = element == "tet10";
  if (ten_node && body != "deformable")
    table.fail("element", "\"tet10\" is for deformable bodies, and this one is " +
                              std::string(body == "affine" ? "affine" : "of frames") + ": leave out element");
  const Growth growth = read_growth(table, source.scale);
  const bool in_lattice = table.has("lattice");
  if (in_lattice && (ten_node || body != "deformable"))
    table.fail("lattice", "is for deformable bodies of linear tets: leave it out, or body and element");
  const EmbeddedSolid embedded =
      in_lattice ? read_embedded(table, source.file, growth.refinement) : EmbeddedSolid{};
  const TetMesh mesh =
      in_lattice ? TetMesh{embedded.nodes, embedded.tets} : read_solid(table, source.file, growth.refinement);
  const FramePaths paths = body == "frames" ? read_frames(table, source.file) : FramePaths{};
  const Placement placement = read_placement(table);
  const std::int32_t material = read_material(table, model);
  const Vec3d velocity = table.vec3("velocity", {0, 0, 0}), spin = table.vec3("angular_velocity", {0, 0, 0});
  const std::vector<Vec<float, 3>> colors = read_colors(table);
  const std::int32_t group = read_no_contact_group(table);
  const std::size_t tets = mesh.tets.size() * (ten_node ? kTet10Parts : 1);
  const std::vector<Instance> instances = read_instances(table, placement.position, tets, growth);
  table.finish();
  check_total(table, "", "the scene up to here",
              static_cast<double>(model.tets.size() + instances.size() * tets));

  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& [offset, turn, number] = instances[i];
    const auto placed = [&, &offset = offset, &turn = turn](const std::vector<Vec3d>& points) {
      std::vector<Vec3d> out;
      out.reserve(points.size());
      for (const Vec3d& p : points) out.push_back(turn * placement.apply(p) + offset);
      return out;
    };
    const std::vector<Vec3d> nodes = placed(mesh.nodes);
    const std::string instance = instance_name(name, instances[i]);
    Object& object = located(table, [&]() -> Object& {
      if (body == "frames") {
        FramePaths here;
        for (const std::vector<Vec3d>& path : paths) here.push_back(placed(path));
        return add_frames(model, instance, nodes, mesh.tets, here, material);
      }
      if (in_lattice) return add_embedded(model, instance, embedded, nodes, material);
      if (body == "affine") return add_affine(model, instance, nodes, mesh.tets, material);
      return (ten_node ? add_ten_node_solid : add_solid)(model, instance, nodes, mesh.tets, material);
    });
    object.color = instance_color(colors, instances[i]);
    object.no_contact_group = group;
    const Vec3d center = turn * placement.position + offset;
    for (std::int32_t n = object.node_begin; n < object.node_end; ++n)
      model.velocities[n] = turn * velocity + cross(turn * spin, model.positions[n] - center);
  }
}

void build_collider(TableReader table, const SceneSource& source, Model& model) {
  if (!model.bodies.empty()) return build_rigid_collider(table, source, model);
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
  const std::int32_t group = read_no_contact_group(table);
  const Sequence sequence =
      read_sequence(table, source, {points, mesh, points ? point_mesh.nodes.size() : mesh.nodes.size()});
  const std::vector<Instance> instances =
      read_instances(table, placement.position, mesh.triangles.size() + point_mesh.nodes.size(), {});
  if (!sequence.frames.empty() && instances.size() > 1)
    table.fail("sequence", "is for one collider, not for an array");
  if (!sequence.frames.empty() && !motion.is_static())
    table.fail("sequence", "give either a motion or a sequence");
  table.finish();

  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& [offset, turn, number] = instances[i];
    std::vector<Vec3d> nodes;
    for (const Vec3d& p : points ? point_mesh.nodes : mesh.nodes)
      nodes.push_back(turn * placement.apply(p) + offset);
    const std::string instance = instance_name(name, instances[i]);
    Object& object = located(table, [&]() -> Object& {
      return points ? add_point_collider(model, instance, nodes, point_mesh.segments, material, motion)
                    : add_collider(model, instance, nodes, mesh.triangles, material, motion);
    });
    object.color = instance_color(colors, instances[i]);
    object.no_contact_group = group;
    model.scripted.back().frames = sequence.frames;
    model.scripted.back().frame_dt = sequence.dt;
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
  plane.mu_of_body = table.flag("mu_of_body", plane.mu_of_body);
  if (plane.mu_of_pair && plane.mu_of_body) table.fail("mu_of_body", "mu_of_pair is true already");
  table.finish();
  model.half_spaces.push_back(plane);
}

}  // namespace stickslip
