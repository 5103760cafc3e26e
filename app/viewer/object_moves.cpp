#include "app/viewer/object_moves.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "app/io/scene/scene_edit.h"
#include "app/viewer/assembly.h"
#include "app/viewer/free_space.h"
#include "app/viewer/simulation.h"
#include "app/viewer/surface_overlap.h"

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

constexpr double kFarthestMove = 1e6;  // [m]
constexpr double kTold = 1e-3;         // of its size: smaller lifts are not logged
constexpr double kLeastGap = 1e-6;     // of the object's size
constexpr double kSlack = 0.01;        // of edges, at velocity level: contacts of what rests overlap a little

std::size_t number_of(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.objects, name, &Object::name);
  if (found == model.objects.end()) throw InputError("there is no object '" + name + "'");
  return static_cast<std::size_t>(found - model.objects.begin());
}

/// Whether a script moves the object, or some of its nodes.
bool is_scripted(const Model& model, const Object& object) {
  if (object.is_rigid()) {
    const Body& body = model.bodies[static_cast<std::size_t>(object.body)];
    return body.motion >= 0 && !model.body_motions[static_cast<std::size_t>(body.motion)].is_static();
  }
  return std::ranges::any_of(model.scripted, [&](const ScriptedNodes& script) {
    return !script.is_static() && std::ranges::any_of(script.nodes, [&](std::int32_t node) {
      return node >= object.node_begin && node < object.node_end;
    });
  });
}

/// Whether a joint other than a rope holds the object, perhaps at the world.
bool is_held(const Model& model, std::size_t number) {
  return std::ranges::any_of(model.joints, [&](const Joint& joint) {
    const auto sides = objects_of(model, joint);
    return joint.kind != JointKind::distance &&
           std::ranges::find(sides, static_cast<int>(number)) != sides.end();
  });
}

bool is_zero(const Vec3d& v) { return v == Vec3d{0, 0, 0}; }

/// The names of the tables that define these objects: of an array where all of its objects are among them.
std::set<std::string> tables_of(const Model& model, const std::vector<int>& objects) {
  std::set<std::string> names;
  for (const int k : objects) {
    const std::string& name = model.objects[static_cast<std::size_t>(k)].name;
    const std::string array = name.substr(0, name.find('.')) + ".";
    bool is_whole = array.size() < name.size();
    for (int other = 0; is_whole && other < static_cast<int>(model.objects.size()); ++other)
      is_whole = !model.objects[static_cast<std::size_t>(other)].name.starts_with(array) ||
                 std::ranges::binary_search(objects, other);
    names.insert(is_whole ? array.substr(0, array.size() - 1) : name);
  }
  return names;
}

std::string moved_text(const Scene& scene, const std::vector<int>& objects, const Pose& move) {
  if (scene.source.empty()) throw InputError(scene.name + " has no TOML text: its objects cannot be moved");
  for (const int k : objects) {
    const Object& object = scene.model.objects[static_cast<std::size_t>(k)];
    const bool is_own = object.is_rigid() || object.is_collider();  // the script, not that of a pin
    if (move.q.w != 1 && !is_own && is_scripted(scene.model, object))
      throw InputError("nodes of '" + object.name + "' follow a script: it can be moved, not turned");
  }
  const std::set<std::string> names = tables_of(scene.model, objects);
  const std::string text = with_own_tables(scene.source, scene.file, names, scene.scale);
  return with_moved_tables(text, scene.file, scene.model, names, move);
}

/// Barrier steps cannot begin with any overlap.
OverlapRule rule_of(const Scene& scene, const Object& object) {
  const bool is_velocity = stepper_family(scene.params.solver) == StepperFamily::velocity;
  const NodeBox box = box_of(object, scene.model.positions);
  return {is_velocity ? kSlack : 0,
          std::max(is_velocity ? 0 : scene.params.d_hat, kLeastGap * norm(box.high - box.low))};
}

/// All nodes, those of these objects moved.
std::vector<Vec3d> moved_nodes(const Model& model, const std::vector<int>& objects,
                               std::vector<Vec3d> positions, const Pose& move) {
  for (const int k : objects) {
    const Object& object = model.objects[static_cast<std::size_t>(k)];
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
      Vec3d& x = positions[static_cast<std::size_t>(i)];
      x = move.apply(x);
    }
  }
  return positions;
}

std::vector<Pose> start_poses(const Model& model) {
  std::vector<Pose> poses;
  poses.reserve(model.bodies.size());
  for (const Body& body : model.bodies) poses.push_back(body.pose);
  return poses;
}

/// That of the object's start, so high that it overlaps no other start.
Pose start_move(const Scene& scene, std::size_t number, const MoveObject& move) {
  const Model& model = scene.model;
  const Object& object = model.objects[number];
  const Vec3d pivot = pivot_of(model, object, model.positions, start_poses(model));
  Pose start = rigid_move(pivot, move.shift, move.turn);
  const std::vector<Vec3d> nodes = moved_nodes(model, {static_cast<int>(number)}, model.positions, start);
  const OverlapRule rule = rule_of(scene, object);
  if (const auto lift = lift_to_free(model, static_cast<int>(number), nodes, rule)) {
    start.x[1] += *lift;
    return start;
  }
  std::vector<NodeBox> others;
  for (const Object& other : model.objects)
    if (&other != &object && other.node_begin < other.node_end)
      others.push_back(box_of(other, model.positions));
  const NodeBox box = box_of(object, nodes);
  start.x += raised_above(others, raised_above_ground(model, box, rule.gap), 2 * rule.gap).low - box.low;
  return start;
}

/// Boxes of pins and forces select nodes by their start.
void check_selections(const Model& from, const Model& to, const std::string& name) {
  // Bodies that leave an array have other numbers: nodes are compared by the names of their objects.
  using Place = std::pair<std::string_view, std::int32_t>;
  const auto places = [](const Model& model, const auto& selections) {
    std::vector<std::vector<Place>> all;
    for (const auto& selection : selections) {
      std::vector<Place>& own = all.emplace_back();
      for (const std::int32_t node : selection.nodes) {
        const Object& object =
            model.objects[static_cast<std::size_t>(model.node_object[static_cast<std::size_t>(node)])];
        own.emplace_back(object.name, node - object.node_begin);
      }
    }
    std::ranges::sort(all);
    return all;
  };
  if (places(from, from.scripted) != places(to, to.scripted) ||
      places(from, from.forces) != places(to, to.forces))
    throw InputError("a box of a pin or a force selects nodes of '" + name +
                     "' by their start: elsewhere it would select others");
}

std::vector<Pose> poses_of(const State& state) {
  std::vector<Pose> poses;
  poses.reserve(state.bodies.size());
  for (const BodyState& body : state.bodies) poses.push_back(body.pose);
  return poses;
}

/// An object that overlaps nothing before the move, of these that move together, and what it then overlaps:
/// "'door' would overlap wall"; empty: there is none.
std::string new_overlap(const Scene& scene, const std::vector<int>& objects, const std::vector<Vec3d>& before,
                        const std::vector<Vec3d>& after) {
  const Model& model = scene.model;
  for (const int k : objects) {
    const Object& object = model.objects[static_cast<std::size_t>(k)];
    const OverlapRule rule = rule_of(scene, object);
    const std::string other = overlapped_by(model, k, after, rule, objects);
    if (!other.empty() && overlapped_by(model, k, before, rule, objects).empty())
      return "'" + object.name + "' would overlap " + other;
  }
  return {};
}

/// The motion of the start of what moves as one: that of the state.
Pose start_move_as_one(const Scene& scene, const std::vector<int>& objects, std::size_t number,
                       const MoveObject& move, const State& now) {
  const Model& model = scene.model;
  const Object& object = model.objects[number];
  const Vec3d pivot = now.positions.empty() ? pivot_of(model, object, model.positions, start_poses(model))
                                            : pivot_of(model, object, now.positions, poses_of(now));
  const Pose motion = rigid_move(pivot, move.shift, move.turn);
  const std::string fault =
      new_overlap(scene, objects, model.positions, moved_nodes(model, objects, model.positions, motion));
  if (!fault.empty()) throw InputError("at the start of the scene " + fault);
  return motion;
}

}  // namespace

Pose rigid_move(const Vec3d& pivot, const Vec3d& shift, const Vec3d& turn) {
  const Quat q = is_zero(turn) ? Quat::identity() : rotation_by((std::numbers::pi / 180) * turn);
  return {pivot + shift - (is_zero(turn) ? pivot : q.rotate(pivot)), q};
}

std::vector<int> moved_with(const Model& model, const std::string& name) {
  return assembly_of(model, static_cast<int>(number_of(model, name)));
}

std::string move_refusal(const Scene& scene, const std::string& name, bool turn) {
  try {
    moved_text(scene, moved_with(scene.model, name),
               rigid_move({0, 0, 0}, {0, 0, 0}, {0, turn ? 90.0 : 0.0, 0}));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::shared_ptr<const Scene> with_move(const Scene& scene, const MoveObject& move, const State& now) {
  for (int k = 0; k < 3; ++k)
    if (!(std::abs(move.shift[k]) <= kFarthestMove) || !std::isfinite(move.turn[k]))
      throw InputError("'" + move.object + "' cannot be moved so far");
  const std::size_t number = number_of(scene.model, move.object);
  const std::vector<int> objects = moved_with(scene.model, move.object);
  const bool as_one = objects.size() > 1 || is_held(scene.model, number) ||
                      is_scripted(scene.model, scene.model.objects[number]);
  const Pose start =
      as_one ? start_move_as_one(scene, objects, number, move, now) : start_move(scene, number, move);
  auto moved = with_text(scene, moved_text(scene, objects, start), true);
  check_selections(scene.model, moved->model, move.object);
  return moved;
}

void put_moved(const Model& from, const State& before, const Model& to, const MoveObject& move,
               State& after) {
  const Object& object = from.objects[number_of(from, move.object)];
  const Vec3d pivot = pivot_of(from, object, before.positions, poses_of(before));
  const Pose motion = rigid_move(pivot, move.shift, move.turn);
  for (const int k : moved_with(from, move.object)) {
    const Object& member = from.objects[static_cast<std::size_t>(k)];
    ObjectState state = take_object(from, member, before);
    for (Vec3d& x : state.positions) x = motion.apply(x);
    std::ranges::fill(state.velocities, Vec3d{0, 0, 0});
    state.body.pose = {motion.apply(state.body.pose.x), normalized(motion.q * state.body.pose.q)};
    state.body.velocity = state.body.spin = {0, 0, 0};
    put_object(to, to.objects[number_of(to, member.name)], state, after);
  }
}

MoveObject free_move(const Scene& scene, MoveObject wanted, std::span<const Vec3f> positions,
                     std::span<const Pose> poses) {
  const Model& model = scene.model;
  const std::size_t number = number_of(model, wanted.object);
  const Object& object = model.objects[number];
  const std::vector<int> objects = moved_with(model, wanted.object);
  const Pose move = rigid_move(pivot_of(model, object, positions, poses), wanted.shift, wanted.turn);
  moved_text(scene, objects, move);
  std::vector<Vec3d> before;
  before.reserve(positions.size());
  for (const Vec3f& x : positions) before.push_back(x.cast<double>());
  std::vector<Vec3d> nodes = moved_nodes(model, objects, before, move);
  if (objects.size() > 1 || is_held(model, number)) {
    const std::string fault = new_overlap(scene, objects, before, nodes);
    if (!fault.empty()) throw InputError("there is no room: " + fault);
    return wanted;
  }
  const OverlapRule rule = rule_of(scene, object);
  const std::string other = overlapped_by(model, static_cast<int>(number), nodes, rule);
  if (other.empty()) return wanted;
  const auto lift = lift_to_free(model, static_cast<int>(number), std::move(nodes), rule);
  if (!lift) throw InputError("there is no room for '" + wanted.object + "': it would overlap " + other);
  const NodeBox box = box_of(object, positions);
  if (*lift > kTold * norm(box.high - box.low))
    spdlog::info("'{}' is put {:.3g} m higher, since it would overlap {}", wanted.object, *lift, other);
  wanted.shift[1] += *lift;
  return wanted;
}

Shot free_shot(const Scene& scene, Shot shot, std::span<const Vec3f> positions) {
  constexpr int kTries = 16;
  const auto with_shot = with_object(scene, shot_toml(scene.model, shot));
  const Model& model = with_shot->model;
  int number = -1;
  std::vector<Vec3d> start = model.positions, now = model.positions;
  for (const Object& to : model.objects) {
    const auto from = std::ranges::find(scene.model.objects, to.name, &Object::name);
    if (from == scene.model.objects.end()) number = static_cast<int>(&to - model.objects.data());
    else
      for (std::int32_t i = 0; i < to.node_end - to.node_begin; ++i)
        now[static_cast<std::size_t>(to.node_begin + i)] =
            positions[static_cast<std::size_t>(from->node_begin + i)].cast<double>();
  }
  const OverlapRule rule = rule_of(*with_shot, model.objects.at(static_cast<std::size_t>(number)));
  const Vec3d back = (-shot.radius / norm(shot.velocity)) * shot.velocity;
  for (int i = 0; i < kTries; ++i) {
    if (overlapped_by(model, number, start, rule).empty() && overlapped_by(model, number, now, rule).empty())
      return shot;
    start = moved_nodes(model, {number}, std::move(start), {back, Quat::identity()});
    now = moved_nodes(model, {number}, std::move(now), {back, Quat::identity()});
    shot.position += back;
  }
  throw InputError("there is no room for a ball in front of the eye, now and at the start of the scene");
}

void move_object(Simulation& simulation, const MoveObject& wanted) {
  if (simulation.is_changing_content()) throw InputError("the last change is not done yet");
  const SimulationFrame& frame = simulation.frame();
  if (!frame.scene) throw InputError("no scene is loaded");
  simulation.post(free_move(*frame.scene, wanted, frame.positions(), frame.snapshot.poses));
}

}  // namespace stickslip
