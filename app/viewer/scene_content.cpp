#include "app/viewer/scene_content.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numbers>
#include <regex>
#include <set>
#include <variant>

#include "app/io/file/number_text.h"
#include "app/io/scene/scene_edit.h"
#include "app/io/scene/toml_text.h"
#include "app/viewer/free_space.h"
#include "app/viewer/picking.h"
#include "gpu/model/element_group.h"

namespace stickslip {
namespace {

std::shared_ptr<const Scene> reparsed(const Scene& scene, const std::string& text) {
  return with_text(scene, text, true);
}

const std::string& text_of(const Scene& scene) {
  if (scene.source.empty()) throw InputError(scene.name + " has no TOML text: its objects cannot be changed");
  return scene.source;
}

/// Whether a script moves the object.
bool moves(const Model& model, const Object& object) {
  return std::ranges::any_of(model.scripted, [&](const ScriptedNodes& script) {
    return !script.is_static() && std::ranges::any_of(script.nodes, [&](std::int32_t node) {
      return node >= object.node_begin && node < object.node_end;
    });
  });
}

/// Prefix of the names of ropes, springs and joints that came later.
const std::string kTie = "tie-";

/// A table with a name: its own, or the next free one.
std::string named(const std::string& toml, const Model& model, const std::string& stem) {
  static const std::regex name("(^|\\n)[ \\t]*name[ \\t]*=");
  const bool has_name = std::regex_search(toml, name);
  return has_name ? toml : "name = " + toml_text(free_object_name(model, stem)) + "\n" + toml;
}

/// With the few digits that tell floats apart, as they will stand in the scene's text.
Vec<double, 3> decimal_point(const Vec3f& at) {
  return {decimal_value(at[0]), decimal_value(at[1]), decimal_value(at[2])};
}

/// One end of a rope, a spring or a joint.
struct TieSide {
  std::string name;            // of an object, or "world"
  Vec<double, 3> anchor, now;  // [m] at the scene's start, and now
};

TieSide tie_side(const Model& model, const Pick& pick, std::span<const Vec3f> positions) {
  Vec<double, 3> start{0, 0, 0};
  for (int k = 0; k < 3; ++k)
    start += pick.weights[k] * model.positions[static_cast<std::size_t>(pick.triangle[k])];
  for (int k = 0; k < 3; ++k) start[k] = rounded_decimal(start[k]);
  return {model.objects.at(static_cast<std::size_t>(pick.object)).name, start,
          decimal_point(position_of(pick, positions))};
}

std::string vector_text(const Vec<double, 3>& v) {
  return "[" + number_text(v[0]) + ", " + number_text(v[1]) + ", " + number_text(v[2]) + "]";
}

/// The keys that name both ends.
std::string tie_ends(const TieSide& a, const TieSide& b) {
  return "between = [" + toml_text(a.name) + ", " + toml_text(b.name) +
         "]\nanchor = " + vector_text(a.anchor) + "\nanchor_b = " + vector_text(b.anchor) + "\n";
}

/// Of a joint, where the bodies are now.
Vec<double, 3> axis_now(JointAxis axis, const Pick& pick, std::span<const Vec3f> positions) {
  if (axis != JointAxis::normal) {
    Vec<double, 3> unit{0, 0, 0};
    unit[static_cast<int>(axis) - static_cast<int>(JointAxis::x)] = 1;
    return unit;
  }
  const auto corner = [&](int k) {
    return positions[static_cast<std::size_t>(pick.triangle[k])].cast<double>();
  };
  const Vec<double, 3> normal = cross(corner(1) - corner(0), corner(2) - corner(0));
  if (!(norm(normal) > 0)) throw InputError("the face has no normal: choose another axis for the joint");
  return normalized(normal);
}

/// The nodes of an object, counted as those of a [[pin]], that a script holds after `time`.
std::set<std::int32_t> held_after(const Model& model, const std::string& name, double time) {
  std::set<std::int32_t> held;
  const auto object = std::ranges::find(model.objects, name, &Object::name);
  if (object == model.objects.end()) return held;
  const std::int32_t first = first_to_pin(*object);
  for (const ScriptedNodes& script : model.scripted)
    for (const std::int32_t node : script.nodes)
      if (script.end > time && node >= first && node < object->node_end) held.insert(node - first);
  return held;
}

bool is_elsewhere(const Model& a, const Object& one, const Model& b, const Object& other) {
  return !std::equal(a.positions.begin() + one.node_begin, a.positions.begin() + one.node_end,
                     b.positions.begin() + other.node_begin, b.positions.begin() + other.node_end);
}

}  // namespace

std::string free_object_name(const Model& model, const std::string& stem) {
  // Instances of an array are "name.0", "name.1", ...
  const auto is_free = [](const auto& all, const std::string& name) {
    return std::ranges::none_of(all, [&](const auto& one) {
      return one.name == name || one.name.substr(0, one.name.find('.')) == name;
    });
  };
  for (int number = 1;; ++number) {
    std::string name = stem + std::to_string(number);
    if (is_free(model.objects, name) && is_free(model.joints, name) && is_free(model.springs, name))
      return name;
  }
}

bool came_later(const Object& object) {
  return object.name.starts_with("shot-") || object.name.starts_with("added-");
}

double scene_radius(const Model& model) {
  Vec<double, 3> low = Vec<double, 3>::filled(1e300), high = -1.0 * low;
  for (const Object& object : model.objects) {
    if (object.is_collider() || came_later(object)) continue;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
      low = min(low, model.positions[static_cast<std::size_t>(i)]);
      high = max(high, model.positions[static_cast<std::size_t>(i)]);
    }
  }
  return low[0] <= high[0] ? 0.5 * norm(high - low) : 1.0;
}

std::shared_ptr<Scene> with_text(const Scene& scene, const std::string& text, bool changed) {
  Scene parsed = parse_scene(text, scene.file, scene.scale, scene.density);
  if (parsed.model.materials.size() != scene.model.materials.size() ||
      parsed.model.half_spaces.size() != scene.model.half_spaces.size())
    throw InputError("an object of a running scene cannot bring materials or half-spaces");
  // Settings are those of the scene as it was loaded: of a variant, of options, of a checkpoint.
  auto other = std::make_shared<Scene>(scene);
  parsed.model.materials = scene.model.materials;
  for (std::size_t i = 0; i < scene.model.half_spaces.size(); ++i)
    parsed.model.half_spaces[i].mu = scene.model.half_spaces[i].mu;
  other->model = std::move(parsed.model);
  other->source = std::move(parsed.source);
  other->resumed = nullptr;
  other->changed = changed;
  return other;
}

std::shared_ptr<const Scene> with_object(const Scene& scene, const std::string& toml) {
  return reparsed(scene, text_of(scene) + "\n[[object]]\n" + named(toml, scene.model, "shot-"));
}

std::shared_ptr<const Scene> with_joint(const Scene& scene, const std::string& toml) {
  return reparsed(scene, text_of(scene) + "\n[[joint]]\n" + named(toml, scene.model, kTie));
}

std::shared_ptr<const Scene> with_spring(const Scene& scene, const std::string& toml) {
  return reparsed(scene, text_of(scene) + "\n[[spring]]\n" + named(toml, scene.model, kTie));
}

std::string tie_toml(const Model& model, const Pick& from, const Pick& to, std::span<const Vec3f> positions) {
  const auto side_of = [&](const Pick& pick) {
    TieSide side = tie_side(model, pick, positions);
    const Object& object = model.objects.at(static_cast<std::size_t>(pick.object));
    if (!object.is_collider()) return side;
    if (moves(model, object))
      throw InputError("'" + object.name + "' moves: a rope cannot follow a collider");
    return TieSide{"world", side.now, side.now};
  };
  TieSide a = side_of(from), b = side_of(to);
  if (a.name == "world") std::swap(a, b);
  if (a.name == "world") throw InputError("both places are on colliders: a rope ties a body");
  if (a.name == b.name) throw InputError("both places are on '" + a.name + "': a rope ties two bodies");
  return "kind = \"distance\"\n" + tie_ends(a, b) +
         "low = 0\nhigh = " + number_text(std::max(norm(a.now - b.now), 1e-6)) + "\ncollide = true\n";
}

std::string joint_toml(const Model& model, const JointChoice& joint, const Pick& from, const Pick& to,
                       std::span<const Vec3f> positions, std::span<const Pose> poses) {
  const auto rigid_body = [&](const Object& object) -> const Body& {
    if (!object.is_rigid())
      throw InputError("'" + object.name +
                       "' is no rigid body, which such a joint needs: tie it by a rope or a spring");
    if (static_cast<std::size_t>(object.body) >= poses.size())
      throw InputError("where '" + object.name + "' is now is not known yet");
    return model.bodies[static_cast<std::size_t>(object.body)];
  };
  const Object& held = model.objects.at(static_cast<std::size_t>(from.object));
  const Object& other = model.objects.at(static_cast<std::size_t>(to.object));
  const Vec<double, 3> place = decimal_point(position_of(to, positions));
  Quat turn_a = Quat::identity(), turn_b = Quat::identity();  // from now to the start of the scene
  // Where the place is at the start, if it moves with the body.
  const auto side_of = [&](const Object& object, Quat& turn) {
    const Body& body = rigid_body(object);
    const Pose& now = poses[static_cast<std::size_t>(object.body)];
    turn = normalized(body.pose.q * now.q.conjugate());
    return TieSide{object.name, body.pose.apply(now.apply_back(place)), place};
  };
  const TieSide a = side_of(held, turn_a);
  TieSide b{"world", place, place};
  if (other.is_collider()) {
    if (moves(model, other)) throw InputError("'" + other.name + "' moves: a joint cannot follow a collider");
  } else if (&other != &held) {
    b = side_of(other, turn_b);
  }
  if (!rigid_body(held).moves && (b.name == "world" || !rigid_body(other).moves))
    throw InputError("'" + held.name + "' cannot move: a joint holds a body that can");
  std::string keys =
      "kind = " + toml_text(std::string(joint_kind_names[static_cast<std::size_t>(joint.kind)])) + "\n" +
      tie_ends(a, b);
  if (joint.has_axis())
    keys += "axis = " + vector_text(turn_a.rotate(axis_now(joint.axis, to, positions))) + "\n";
  if (joint.kind != JointKind::ball) {
    constexpr double kDegree = std::numbers::pi / 180;
    const Vec<double, 3> turn = rotation_vector(normalized(turn_b * turn_a.conjugate())) / kDegree;
    keys += "turn_b = " + vector_text(turn) + "\n";
  }
  return keys + "collide = true\n";
}

std::string label_of_joint(const std::string& toml) {
  static const std::regex rope("(^|\\n)[ \\t]*kind[ \\t]*=[ \\t]*[\"']distance[\"']");
  return std::regex_search(toml, rope) ? "a rope added" : "a joint added";
}

std::string spring_toml(const Model& model, const Pick& from, const Pick& to,
                        std::span<const Vec3f> positions) {
  constexpr double kGravity = 9.81, kSag = 0.1, kDamping = 0.02;
  const TieSide a = tie_side(model, from, positions), b = tie_side(model, to, positions);
  double mass = 0;  // of the lighter side
  for (const Pick* pick : {&from, &to}) {
    const Object& object = model.objects.at(static_cast<std::size_t>(pick->object));
    if (object.is_collider()) continue;
    if (!object.is_deformable())
      throw InputError(
          "'" + object.name +
          "' is not deformable: a spring holds deformable objects and colliders; tie it by a rope");
    const double own =
        model.materials[static_cast<std::size_t>(object.material)].density * solid_volume(model, object);
    if (mass == 0 || own < mass) mass = own;
  }
  if (!(mass > 0)) throw InputError("both places are on colliders: a spring holds a body");
  const double length = norm(a.now - b.now);
  if (!(length > 0)) throw InputError("both ends of the spring are one point");
  return tie_ends(a, b) + "length = " + number_text(length) +
         "\nstiffness = " + number_text(mass * kGravity / (kSag * length)) +
         "\ndamping = " + number_text(kDamping) + "\n";
}

std::shared_ptr<const Scene> without_ties(const Scene& scene, const std::string& object) {
  return reparsed(scene, without_tie_tables(text_of(scene), scene.file, object, kTie));
}

std::shared_ptr<const Scene> without_object(const Scene& scene, const std::string& name) {
  const auto is_movable = [](const Object& object) { return !object.is_collider(); };
  if (std::ranges::count_if(scene.model.objects, is_movable) == 1 &&
      std::ranges::find_if(scene.model.objects, is_movable)->name == name)
    throw InputError("'" + name + "' is the only object of the scene that can move");
  const auto rest =
      with_text(scene, without_object_table(text_of(scene), scene.file, name, scene.scale), true);
  std::erase_if(rest->expect, [&](const Expectation& expectation) {
    return std::visit(
        [&](const auto& of) {
          if constexpr (requires { of.object; }) return of.object == name;
          else return false;
        },
        expectation);
  });
  return rest;
}

std::string copy_toml(const Scene& scene, const std::string& name, std::span<const Vec3f> positions) {
  const auto object = std::ranges::find(scene.model.objects, name, &Object::name);
  if (object == scene.model.objects.end()) throw InputError("there is no object '" + name + "'");
  if (object->node_end == object->node_begin) throw InputError("'" + name + "' has no nodes to copy");
  const NodeBox start = box_of(*object, scene.model.positions), now = box_of(*object, positions);
  const double gap = 0.05 * norm(now.high - now.low);
  NodeBox copy = start;
  copy.move(0.5 * (now.low + now.high - start.low - start.high));
  copy.move({0, now.high[1] + gap - copy.low[1], 0});
  copy = raised_above(taken_boxes(scene.model, positions), copy, gap);  // such as an earlier copy
  const Vec<double, 3> shift = copy.low - start.low;
  const std::string stem = name.substr(0, std::min(name.rfind("-copy"), name.find('.')));
  return object_copy(text_of(scene), scene.file, name, free_object_name(scene.model, stem + "-copy-"), shift,
                     scene.scale);
}

std::shared_ptr<const Scene> with_pin(const Scene& scene, const std::string& object,
                                      std::span<const std::int32_t> nodes, double time) {
  const auto found = std::ranges::find(scene.model.objects, object, &Object::name);
  if (found != scene.model.objects.end() && found->is_embedded())
    throw InputError("'" + object + "' " +
                     (found->has_frames ? "is moved by frames" : "is in a lattice, whose nodes") +
                     (found->has_frames ? ", which" : "") +
                     " are no points of its surface: hold it by a [[pin]] with a box in the scene's file");
  const std::set<std::int32_t> held = held_after(scene.model, object, time);
  std::string list;
  for (const std::int32_t node : nodes) {
    if (held.contains(node)) continue;
    list.append(list.empty() ? "" : ", ").append(std::to_string(node));
  }
  if (list.empty()) throw InputError("'" + object + "' is held there already");
  const std::string table = "\n[[pin]]\nobject = " + toml_text(object) + "\nnodes = [" + list + "]\nfrom = ";
  return reparsed(scene, text_of(scene) + table + number_text(time) + "\n");
}

std::shared_ptr<const Scene> without_pins(const Scene& scene, const std::string& object) {
  return reparsed(scene, without_pin_tables(text_of(scene), scene.file, object));
}

namespace {

/// An affine body's control nodes, which decide about all others, are behind its own.
int controls_of(const Object& object) { return object.is_affine() ? 4 : 0; }

}  // namespace

ObjectState take_object(const Model& model, const Object& object, const State& state) {
  const auto of = [&](const std::vector<Vec<double, 3>>& values) {
    std::vector nodes(values.begin() + object.node_begin, values.begin() + object.node_end);
    for (int k = 0; k < controls_of(object); ++k)
      nodes.push_back(values[static_cast<std::size_t>(object.control_begin + k)]);
    return nodes;
  };
  ObjectState kept{of(state.positions), of(state.velocities), {}, 1};
  if (object.is_rigid()) kept.body = state.bodies[static_cast<std::size_t>(object.body)];
  if (!state.thickness.empty())
    kept.thickness = state.thickness[static_cast<std::size_t>(&object - model.objects.data())];
  return kept;
}

void put_object(const Model& model, const Object& object, const ObjectState& kept, State& state) {
  const auto count = object.node_end - object.node_begin;
  if (object.is_rigid()) state.bodies[static_cast<std::size_t>(object.body)] = kept.body;
  if (object.is_rigid() && kept.positions.size() != static_cast<std::size_t>(count)) {
    // Drawn with other nodes: bodies of a large array are drawn more coarsely than a single one.
    const Pose start = model.bodies[static_cast<std::size_t>(object.body)].pose;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      state.positions[k] = kept.body.pose.apply(start.apply_back(model.positions[k]));
      state.velocities[k] = kept.body.velocity + cross(kept.body.spin, state.positions[k] - kept.body.pose.x);
    }
    return;
  }
  if (kept.positions.size() != static_cast<std::size_t>(count + controls_of(object))) return;
  const auto put = [&](const std::vector<Vec<double, 3>>& from, std::vector<Vec<double, 3>>& to) {
    std::copy(from.begin(), from.begin() + count, to.begin() + object.node_begin);
    std::copy(from.begin() + count, from.end(), to.begin() + std::max(object.control_begin, 0));
  };
  put(kept.positions, state.positions);
  put(kept.velocities, state.velocities);
  if (!state.thickness.empty())
    state.thickness[static_cast<std::size_t>(&object - model.objects.data())] = kept.thickness;
}

std::set<std::string> moved_starts(const Model& from, const Model& to) {
  std::map<std::string_view, const Object*> before;
  for (const Object& object : from.objects) before[object.name] = &object;
  std::set<std::string> moved;
  for (const Object& object : to.objects)
    if (const auto old = before.find(object.name);
        old != before.end() && is_elsewhere(from, *old->second, to, object))
      moved.insert(object.name);
  return moved;
}

State carried_over(const Model& from, const State& state, const Model& to, State start) {
  std::map<std::string, const Object*> before;
  for (const Object& object : from.objects) before[object.name] = &object;
  start.frame = state.frame;
  start.time = state.time;
  start.barrier = {};  // of the start, where bodies that follow scripts are elsewhere
  if (!state.thickness.empty()) start.thickness.assign(to.objects.size(), 1);
  for (const Object& object : to.objects) {
    const auto found = before.find(object.name);
    if (found == before.end()) continue;
    const Object& old = *found->second;
    if (old.is_rigid() == object.is_rigid() && !is_elsewhere(from, old, to, object))
      put_object(to, object, take_object(from, old, state), start);
  }
  return start;  // anchors of contacts are forgotten
}

std::optional<int> same_object(const Model& from, const Model& to, int object) {
  const auto k = static_cast<std::size_t>(object);
  if (object < 0 || k >= from.objects.size()) return std::nullopt;
  const auto found = std::ranges::find(to.objects, from.objects[k].name, &Object::name);
  if (found == to.objects.end() || found->is_rigid() != from.objects[k].is_rigid()) return std::nullopt;
  return static_cast<int>(found - to.objects.begin());
}

bool keeps_object(const Model& from, const Model& to, int object) {
  const auto k = static_cast<std::size_t>(object);
  if (object < 0 || k >= from.objects.size() || k >= to.objects.size()) return false;
  const Object &a = from.objects[k], &b = to.objects[k];
  return a.name == b.name && a.node_begin == b.node_begin && a.node_end == b.node_end;
}

Shot shot_along(const Model& model, const Camera& camera) {
  const double radius = scene_radius(model) / 12, distance = static_cast<double>(camera.distance);
  const Vec<double, 3> eye = camera.eye().cast<double>(), forward = camera.forward().cast<double>();
  const double ahead = std::min(0.25 * distance, 4 * radius);
  return {eye + ahead * forward, 2 * (distance - ahead) * forward, radius};
}

std::string shot_toml(const Model& model, const Shot& shot) {
  char text[400];
  std::snprintf(text, sizeof text,
                "body = \"%s\"\nshape = \"sphere\"\nradius = %.9g\nedge = %.9g\n"
                "position = [%.9g, %.9g, %.9g]\nvelocity = [%.9g, %.9g, %.9g]\ncolor = [0.85, 0.25, 0.2]\n",
                model.bodies.empty() ? "affine" : "rigid", shot.radius, 0.6 * shot.radius, shot.position[0],
                shot.position[1], shot.position[2], shot.velocity[0], shot.velocity[1], shot.velocity[2]);
  return text + ("material = " + toml_text(model.material_names.front()) + "\n");
}

}  // namespace stickslip
