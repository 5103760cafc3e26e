#include "app/viewer/body_looks.h"

#include <algorithm>
#include <utility>

namespace stickslip {

void BodyLooks::set_scene(std::shared_ptr<const Scene> scene) {
  scene_ = std::move(scene);
  sides_ = joint_sides(scene_->model);
  const Model& model = scene_->model;
  on_surface_.assign(model.node_count(), 0);
  for (const auto& triangle : model.triangles)
    for (int k = 0; k < 3; ++k) on_surface_[static_cast<std::size_t>(triangle[k])] = 1;
  for (const auto& segment : model.segments)
    for (int k = 0; k < 2; ++k) on_surface_[static_cast<std::size_t>(segment[k])] = 1;
  dimmed_.assign(scene_->model.bodies.size(), 0);
}

void BodyLooks::dim_sleeping_bodies(const Snapshot& snapshot, Renderer& renderer) {
  for (std::size_t b = 0; b < dimmed_.size(); ++b) {
    const std::uint8_t now = b < snapshot.asleep.size() ? snapshot.asleep[b] : 0;
    const std::int32_t object = scene_->model.bodies[b].object;
    if (std::exchange(dimmed_[b], now) == now || object < 0) continue;
    const Vec3f color = scene_->model.objects[static_cast<std::size_t>(object)].color;
    renderer.set_object_color(static_cast<std::size_t>(object),
                              now ? 0.35f * color + Vec3f::filled(0.36f) : color);
  }
}

std::span<const JointMark> BodyLooks::joints(const SimulationFrame& frame) {
  joints_.clear();
  if (!scene_ || frame.snapshot.poses.size() != scene_->model.bodies.size()) return joints_;
  const bool on_solids = std::ranges::any_of(scene_->model.joints, holds_solid);
  joints_ =
      joint_marks(sides_, frame.snapshot.poses, on_solids ? frame.positions() : std::span<const Vec3f>());
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
