#include "app/viewer/scene_content.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "app/io/file/number_text.h"
#include "app/io/scene/scene_edit.h"
#include "app/io/scene/toml_text.h"
#include "app/viewer/picking.h"

namespace stickslip {
namespace {

std::shared_ptr<const Scene> reparsed(const Scene& scene, const std::string& text) {
  Scene parsed = parse_scene(text, scene.file, scene.scale);
  if (parsed.model.materials.size() != scene.model.materials.size() ||
      parsed.model.half_spaces.size() != scene.model.half_spaces.size())
    throw InputError("an object of a running scene cannot bring materials or half-spaces");
  // Settings are those of the scene as it was loaded: of a variant, of options, of a checkpoint.
  auto changed = std::make_shared<Scene>(scene);
  parsed.model.materials = scene.model.materials;
  for (std::size_t i = 0; i < scene.model.half_spaces.size(); ++i)
    parsed.model.half_spaces[i].mu = scene.model.half_spaces[i].mu;
  changed->model = std::move(parsed.model);
  changed->source = std::move(parsed.source);
  changed->resumed = nullptr;
  changed->changed = true;
  return changed;
}

const std::string& text_of(const Scene& scene) {
  if (scene.source.empty()) throw InputError(scene.name + " has no TOML text: its objects cannot be changed");
  return scene.source;
}

template <class T>
void copy_range(const std::vector<T>& from, std::int32_t from_begin, std::int32_t count, std::vector<T>& to,
                std::int32_t to_begin) {
  std::copy_n(from.begin() + from_begin, count, to.begin() + to_begin);
}

/// "shot-1", or with the first number that is not taken.
std::string free_name_of(const Model& model) {
  for (int number = 1;; ++number) {
    std::string name = "shot-" + std::to_string(number);
    if (std::ranges::find(model.objects, name, &Object::name) == model.objects.end()) return name;
  }
}

/// [m] of all bodies but balls that were thrown.
double start_radius(const Model& model) {
  Vec<double, 3> low = Vec<double, 3>::filled(1e300), high = -1.0 * low;
  for (const Object& object : model.objects) {
    if (object.is_collider() || object.name.starts_with("shot-")) continue;
    for (std::int32_t i = object.node_begin; i < object.node_end; ++i) {
      low = min(low, model.positions[static_cast<std::size_t>(i)]);
      high = max(high, model.positions[static_cast<std::size_t>(i)]);
    }
  }
  return low[0] <= high[0] ? 0.5 * norm(high - low) : 1.0;
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

}  // namespace

std::shared_ptr<const Scene> with_object(const Scene& scene, const std::string& toml) {
  const bool has_name = toml.starts_with("name ") || toml.find("\nname ") != std::string::npos;
  const std::string name = has_name ? "" : "name = " + toml_text(free_name_of(scene.model)) + "\n";
  return reparsed(scene, text_of(scene) + "\n[[object]]\n" + name + toml);
}

std::shared_ptr<const Scene> without_object(const Scene& scene, const std::string& name) {
  return reparsed(scene, without_object_table(text_of(scene), scene.file, name));
}

std::shared_ptr<const Scene> with_pin(const Scene& scene, const std::string& object,
                                      std::span<const std::int32_t> nodes, double time) {
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

State carried_over(const Model& from, const State& state, const Model& to, State start) {
  std::map<std::string, const Object*> before;
  for (const Object& object : from.objects) before[object.name] = &object;
  start.frame = state.frame;
  start.time = state.time;
  if (!state.thickness.empty()) start.thickness.assign(to.objects.size(), 1);
  for (std::size_t k = 0; k < to.objects.size(); ++k) {
    const Object& object = to.objects[k];
    const auto found = before.find(object.name);
    if (found == before.end()) continue;
    const Object& old = *found->second;
    const std::int32_t count = object.node_end - object.node_begin;
    if (old.node_end - old.node_begin != count || old.is_rigid() != object.is_rigid()) continue;
    copy_range(state.positions, old.node_begin, count, start.positions, object.node_begin);
    copy_range(state.velocities, old.node_begin, count, start.velocities, object.node_begin);
    if (object.is_rigid())
      start.bodies[static_cast<std::size_t>(object.body)] = state.bodies[static_cast<std::size_t>(old.body)];
    if (!state.thickness.empty())
      start.thickness[k] = state.thickness[static_cast<std::size_t>(&old - from.objects.data())];
  }
  return start;  // anchors of contacts are forgotten
}

Shot shot_along(const Model& model, const Camera& camera) {
  const double radius = start_radius(model) / 12, distance = static_cast<double>(camera.distance);
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
