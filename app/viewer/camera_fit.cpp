#include "app/viewer/camera_fit.h"

#include <algorithm>

namespace stickslip {

bool shows_solids(const Camera& camera, const Model& model, std::span<const Vec3f> positions,
                  const ClearArea& area) {
  for (const Object& object : model.objects) {
    const bool moves = object.is_rigid() && model.bodies[static_cast<std::size_t>(object.body)].moves;
    if (!object.is_movable() && !moves) continue;
    for (std::int32_t node = object.node_begin; node < object.node_end; ++node) {
      const Vec3f pixel = camera.project(positions[static_cast<std::size_t>(node)], area.width, area.height);
      const bool inside =
          pixel[0] >= area.left && pixel[0] <= area.right && pixel[1] >= 0 && pixel[1] <= area.bottom;
      if (!(pixel[2] > 0) || !inside) return false;
    }
  }
  return true;
}

void back_off(Camera& camera, const Model& model, std::span<const Vec3f> positions, const ClearArea& area) {
  constexpr float step = 1.08f, most = 3;
  const float start = camera.distance;
  while (camera.distance < most * start && !shows_solids(camera, model, positions, area))
    camera.distance *= step;
}

void FollowingCamera::follow(Camera& camera, int object, const Vec3f& center) {
  if (object >= 0 && object == object_) camera.target += center - center_;
  object_ = object;
  center_ = center;
}

Camera camera_of(const CameraStart& start) {
  return Camera::look_at(start.position.cast<float>(), start.target.cast<float>(),
                         static_cast<float>(start.fov));
}

std::optional<float> ground_height(const Model& model) {
  std::optional<float> highest;
  for (const HalfSpace& plane : model.half_spaces)
    if (plane.normal[1] > 0.9999)
      highest = std::max(highest.value_or(-1e30f), static_cast<float>(plane.offset));
  return highest;
}

}  // namespace stickslip
