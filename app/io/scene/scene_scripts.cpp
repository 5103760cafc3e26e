// Scripts of a scene's nodes: pins, forces, initial velocities, motions; and friction of pairs.
#include <algorithm>

#include "app/io/scene/scene_build.h"
#include "gpu/model/element_group.h"
#include "gpu/model/lattice.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Adds the ghosts of the segments of rods that have both ends among the nodes from `first` on.
void add_ghosts(const Model& model, const Object& rods, std::size_t first, std::vector<std::int32_t>& nodes) {
  std::vector<bool> taken(static_cast<std::size_t>(rods.node_end - rods.node_begin), false);
  const auto place = [&](std::int32_t node) { return static_cast<std::size_t>(node - rods.node_begin); };
  for (std::size_t i = first; i < nodes.size(); ++i) taken[place(nodes[i])] = true;
  for (std::int32_t s = rods.segment_begin; s < rods.segment_end; ++s)
    if (taken[place(model.segments[s][0])] && taken[place(model.segments[s][1])])
      nodes.push_back(rod_ghost(rods, s));
}

/// Points of refined rods (indices without ghosts) at the places of the `listed` ones of the scene file:
/// these themselves, and those between two of them that are the ends of a segment.
std::vector<std::int32_t> refined_points(const RefinedRods& rods, const std::vector<std::int32_t>& listed) {
  const std::int32_t points = rods.points(rods.segments), fine = rods.points(rods.segments * rods.parts);
  const auto at = [&](std::int32_t i) { return i / points * fine + i % points * rods.parts; };
  std::vector<std::int32_t> out;
  out.reserve(listed.size());
  for (const std::int32_t i : listed) out.push_back(at(i));
  for (const std::int32_t i : listed) {
    const bool last = i % points == points - 1;
    if (last && !rods.closed) continue;
    if (std::find(listed.begin(), listed.end(), last ? i + 1 - points : i + 1) == listed.end()) continue;
    for (std::int32_t k = 1; k < rods.parts; ++k) out.push_back(at(i) + k);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// By what the acceleration of `listed` points grows, so that the same force acts on the fewer kilograms of
/// the `refined` ones.
double load_factor(const RefinedRods& rods, const std::vector<std::int32_t>& listed,
                   const std::vector<std::int32_t>& refined) {
  const auto halves = [&](const std::vector<std::int32_t>& nodes, std::int32_t segments) {
    const std::int32_t points = rods.points(segments);
    double count = 0;  // halves of segments that the nodes carry
    for (const std::int32_t i : nodes)
      count += !rods.closed && (i % points == 0 || i % points == segments) ? 1 : 2;
    return count;
  };
  return rods.parts * halves(listed, rods.segments) / halves(refined, rods.segments * rods.parts);
}

struct SelectedNodes {
  std::vector<std::int32_t> nodes;
  double load_factor = 1;  // see load_factor()
};

/// The points of the frames that start in a box.
void add_frames_in(const Model& model, const Object& object, const Vec3d& low, const Vec3d& high,
                   std::vector<std::int32_t>& nodes) {
  const std::vector<Vec3d>& frames = lattice_of(model, object).frames;
  for (std::size_t f = 0; f < frames.size(); ++f)
    for (int k = 0; k < 4 && min(frames[f], low) == low && max(frames[f], high) == high; ++k)
      nodes.push_back(object.node_begin + 4 * static_cast<std::int32_t>(f) + k);
}

/// Nodes of solids and rods: of `object`, or with a box of all of them. Selected by `box` at the start or by
/// the list `nodes`. Ghosts of rods are not counted; they come with their segments.
SelectedNodes read_nodes(TableReader& table, const Model& model, const std::vector<RefinedRods>& refined) {
  if (table.has("box") == table.has("nodes"))
    table.fail("", "needs either box = { min, max } or nodes = [...]");
  std::optional<TableReader> box = table.table("box");
  const std::string name = box ? table.text("object", "") : table.text("object");
  if (!name.empty()) check_known(table, "object", "object", name, object_names(model));
  Vec3d low{0, 0, 0}, high{0, 0, 0};
  if (box) {
    low = box->vec3("min");
    high = box->vec3("max");
    box->finish();
  }
  SelectedNodes out;
  std::vector<std::int32_t>& nodes = out.nodes;
  for (const Object& object : model.objects) {
    if (!moves(model, object) || (!name.empty() && !is_called(object, name))) continue;
    if (object.is_rigid()) {
      if (!name.empty())
        table.fail("object", "'" + name + "' is a rigid body, which has no nodes to hold: use a [[joint]]");
      continue;
    }
    if (object.is_embedded() && !box)
      table.fail("nodes", "'" + object.name + "' " +
                              (object.has_frames ? "has frames, which have no numbers"
                                                 : "is in a lattice, whose nodes have no numbers") +
                              ": give a box");
    if (object.has_frames) {
      add_frames_in(model, object, low, high, nodes);
      continue;
    }
    // Of a solid in a lattice, nodes of the lattice: those of its surface follow them.
    const std::int32_t first =
        object.is_embedded() ? object.node_begin : std::max(object.node_begin, object.collides_from);
    const std::int32_t end = object.is_embedded() ? object.collides_from : object.node_end;
    const std::size_t before = nodes.size();
    if (!box) {
      const auto rods = std::find_if(refined.begin(), refined.end(), [&](const RefinedRods& r) {
        return object.is_rods() && is_called(object, r.name);
      });
      const bool fine = rods != refined.end();
      const std::int32_t count = object.node_end - first;
      std::vector<std::int32_t> listed = table.indices(
          "nodes",
          fine ? count / rods->points(rods->segments * rods->parts) * rods->points(rods->segments) : count);
      if (fine) {
        std::vector<std::int32_t> points = refined_points(*rods, listed);
        out.load_factor = load_factor(*rods, listed, points);
        listed = std::move(points);
      }
      for (const std::int32_t i : listed) nodes.push_back(first + i);
    }
    for (std::int32_t i = first; box && i < end; ++i) {
      const Vec3d& p = model.positions[i];
      if (min(p, low) == low && max(p, high) == high) nodes.push_back(i);
    }
    if (object.is_rods()) add_ghosts(model, object, before, nodes);
  }
  if (nodes.empty())
    table.fail("box", "holds no node of " + (name.empty() ? "any object" : "'" + name + "'"));
  return out;
}

/// Start and end of a pin or a force [s].
void read_interval(TableReader& table, double& begin, double& end) {
  begin = table.number("from", Range::not_negative(), begin);
  end = table.number("to", {0, 1e30}, end);
  if (!(end > begin)) table.fail("to", "must come after from");
}

std::int32_t find_material(const TableReader& table, const std::string& key, const Model& model,
                           const std::string& name) {
  check_known(table, key, "material", name, model.material_names);
  const auto found = std::find(model.material_names.begin(), model.material_names.end(), name);
  return static_cast<std::int32_t>(found - model.material_names.begin());
}

}  // namespace

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

void build_pin(TableReader table, Model& model, const std::vector<RefinedRods>& refined) {
  ScriptedNodes script;
  script.nodes = read_nodes(table, model, refined).nodes;
  for (const std::int32_t i : script.nodes)
    if (const Object& object = model.objects[model.node_object[i]]; object.is_affine())
      table.fail("", "holds nodes of '" + object.name +
                         "', an affine body, whose nodes cannot move by themselves: make it deformable or a "
                         "[[collider]], or leave it out by object = '...'");
  Vec3d center{0, 0, 0};
  for (const std::int32_t i : script.nodes) center += model.positions[i] / double(script.nodes.size());
  script.motion = read_motion(table.table("motion"), center);
  read_interval(table, script.begin, script.end);
  table.finish();
  model.scripted.push_back(std::move(script));
}

void build_force(TableReader table, Model& model, const std::vector<RefinedRods>& refined) {
  NodeForce force;
  SelectedNodes selected = read_nodes(table, model, refined);
  force.nodes = std::move(selected.nodes);
  force.acceleration = selected.load_factor * table.vec3("acceleration");
  read_interval(table, force.begin, force.end);
  table.finish();
  model.forces.push_back(std::move(force));
}

void build_velocity(TableReader table, Model& model, const std::vector<RefinedRods>& refined) {
  const std::vector<std::int32_t> nodes = read_nodes(table, model, refined).nodes;
  const Vec3d velocity = table.vec3("velocity");
  table.finish();
  for (const std::int32_t i : nodes) model.velocities[i] = velocity;
}

void build_friction(TableReader table, Model& model) {
  const std::vector<std::string> between = table.texts("between", 2);
  PairFriction pair;
  pair.material_a = find_material(table, "between", model, between[0]);
  pair.material_b = find_material(table, "between", model, between[1]);
  pair.mu = table.number("mu", {0, 10});
  if (table.has("rolling_resistance")) pair.rolling_resistance = table.number("rolling_resistance", {0, 10});
  table.finish();
  for (const PairFriction& other : model.pair_friction)
    if (std::minmax(other.material_a, other.material_b) == std::minmax(pair.material_a, pair.material_b))
      table.fail("between", "'" + between[0] + "' and '" + between[1] + "' have their friction already");
  model.pair_friction.push_back(pair);
}

}  // namespace stickslip
