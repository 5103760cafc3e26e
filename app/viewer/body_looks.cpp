#include "app/viewer/body_looks.h"

#include <algorithm>
#include <utility>

namespace stickslip {

void BodyLooks::set_scene(std::shared_ptr<const Scene> scene) {
  scene_ = std::move(scene);
  sides_ = joint_sides(scene_->model);
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

}  // namespace stickslip
