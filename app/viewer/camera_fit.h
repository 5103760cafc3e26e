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

/// The camera given in a scene file.
Camera camera_of(const CameraStart& start);

/// Height [m] of the highest horizontal half-space that holds bodies up, which is drawn as the ground.
std::optional<float> ground_height(const Model& model);

}  // namespace stickslip
