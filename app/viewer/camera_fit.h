// Keeps the bodies in the part of the window that no panel covers.
#pragma once

#include <optional>
#include <span>

#include "app/io/scene/scene.h"
#include "app/render/camera.h"
#include "gpu/model/model.h"

namespace stickslip {

/// Size of the window in pixels, and its columns [left, right) and rows [0, bottom) without panels.
struct ClearArea {
  int width = 1, height = 1;
  float left = 0, right = 1, bottom = 1;
  float aspect() const { return (right - left) / bottom; }
};

/// True when every node of the elastic and rigid solids is visible in the clear area.
bool shows_solids(const Camera& camera, const Model& model, std::span<const Vec3f> positions,
                  const ClearArea& area);

/// Increases the distance, by at most a factor of three, until the solids are visible.
void back_off(Camera& camera, const Model& model, std::span<const Vec3f> positions, const ClearArea& area);

/// Moves the camera with an object, so that their offset stays while it is followed. Gestures change the
/// offset.
class FollowingCamera {
 public:
  /// `object`: an index, -1: none. Another object than before, or a gap, begins anew from the camera's place.
  void follow(Camera& camera, int object, const Vec3f& center);
  void stop() { object_ = -1; }

 private:
  int object_ = -1;
  Vec3f center_{0, 0, 0};
};

/// The camera given in a scene file.
Camera camera_of(const CameraStart& start);

/// Height [m] of the highest horizontal half-space that holds bodies up, which is drawn as the ground.
std::optional<float> ground_height(const Model& model);

}  // namespace stickslip
