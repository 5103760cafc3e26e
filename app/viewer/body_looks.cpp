#include "app/viewer/body_looks.h"

#include <algorithm>
#include <utility>

#include "app/viewer/contact_graph.h"

namespace stickslip {
namespace {

std::vector<Vec3f> object_colors(const Model& model) {
  std::vector<Vec3f> colors;
  colors.reserve(model.objects.size());
  for (const Object& object : model.objects) colors.push_back(object.color);
  return colors;
}

/// Of islands of one object, and of what cannot move: greys, so that islands stand out.
std::vector<Vec3f> island_colors(const Model& model, std::span<const ContactRecord> contacts) {
  const Vec3f fixed{0.30f, 0.31f, 0.33f}, alone{0.68f, 0.69f, 0.70f};
  const std::vector<std::int32_t> islands = islands_of(model, contacts);
  std::vector<int> members(islands.size(), 0);
  for (const std::int32_t island : islands)
    if (island >= 0) ++members[static_cast<std::size_t>(island)];
  std::vector<Vec3f> colors;
  colors.reserve(islands.size());
  for (const std::int32_t island : islands)
    colors.push_back(island < 0                                      ? fixed
                     : members[static_cast<std::size_t>(island)] < 2 ? alone
                                                                     : island_color(island));
  return colors;
}

}  // namespace

void BodyLooks::set_scene(std::shared_ptr<const Scene> scene) {
  scene_ = std::move(scene);
  sides_ = joint_sides(scene_->model);
  const Model& model = scene_->model;
  on_surface_.assign(model.node_count(), 0);
  for (const auto& triangle : model.triangles)
    for (int k = 0; k < 3; ++k) on_surface_[static_cast<std::size_t>(triangle[k])] = 1;
  for (const auto& segment : model.segments)
    for (int k = 0; k < 2; ++k) on_surface_[static_cast<std::size_t>(segment[k])] = 1;
  shown_.clear();
  for (const Object& object : model.objects) shown_.push_back(object.color);
}

std::vector<Vec3f> BodyLooks::colors(const Snapshot& snapshot, bool by_islands) const {
  if (!scene_) return {};
  const Model& model = scene_->model;
  std::vector<Vec3f> wanted = by_islands ? island_colors(model, snapshot.contacts) : object_colors(model);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const std::int32_t object = model.bodies[b].object;
    if (object < 0 || b >= snapshot.asleep.size() || snapshot.asleep[b] == 0) continue;
    Vec3f& color = wanted[static_cast<std::size_t>(object)];
    color = 0.35f * color + Vec3f::filled(0.36f);
  }
  return wanted;
}

void BodyLooks::paint(const Snapshot& snapshot, bool by_islands, Renderer& renderer) {
  const std::vector<Vec3f> wanted = colors(snapshot, by_islands);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(wanted[i] == shown_[i])) renderer.set_object_color(i, shown_[i] = wanted[i]);
}

std::span<const JointMark> BodyLooks::joints(const SimulationFrame& frame) {
  joints_.clear();
  if (!scene_ || frame.snapshot.poses.size() != scene_->model.bodies.size()) return joints_;
  const bool on_solids = std::ranges::any_of(scene_->model.joints, holds_solid);
  joints_ =
      joint_marks(sides_, frame.snapshot.poses, on_solids ? frame.positions() : std::span<const Vec3f>());
  if (has_long_spring(scene_->model))
    for (const JointMark& mark : spring_marks(scene_->model.springs, frame.positions()))
      joints_.push_back(mark);
  return joints_;
}

std::span<const std::int32_t> BodyLooks::pins(const SimulationFrame& frame, double dt) {
  pins_.clear();
  if (!scene_) return pins_;
  const Model& model = scene_->model;
  const double begin = std::max(0.0, frame.snapshot.time - dt);
  for (const ScriptedNodes& script : model.scripted) {
    // A pin set at this moment acts in the next step.
    if (!script.acts(begin, dt) && !script.acts(frame.snapshot.time, dt)) continue;
    for (const std::int32_t node : script.nodes) {
      const auto i = static_cast<std::size_t>(node);
      if (on_surface_[i] != 0 && model.objects[static_cast<std::size_t>(model.node_object[i])].is_movable())
        pins_.push_back(node);
    }
  }
  return pins_;
}

}  // namespace stickslip
