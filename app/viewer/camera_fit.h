// Keeps the bodies in the part of the window that no panel covers.
#pragma once

#include <span>

#include "app/io/scene/scene.h"
#include "app/render/camera.h"
#include "gpu/model/model.h"

namespace stickslip {

/// The window in pixels, and the columns [left, right) and rows [0, bottom) of it that show the scene.
struct ClearArea {
  int width = 1, height = 1;
  float left = 0, right = 1, bottom = 1;
  float aspect() const { return (right - left) / bottom; }
};

/// True when every node of the solids, elastic or rigid, is seen in the clear area.
bool shows_solids(const Camera& camera, const Model& model, std::span<const Vec3f> positions,
                  const ClearArea& area);

/// Backs off, at most to three times the distance, until the solids are seen.
void back_off(Camera& camera, const Model& model, std::span<const Vec3f> positions, const ClearArea& area);

/// As a scene file says.
Camera camera_of(const CameraStart& start);

}  // namespace stickslip
