// Orbit camera: views a target from a distance, in a direction given by two angles. y is up.
#pragma once

#include <glm/mat4x4.hpp>

#include "gpu/math/vec.h"

namespace stickslip {

struct Ray {
  Vec3f origin, direction;  // direction is unit
};

struct Bounds {
  Vec3f low{0, 0, 0}, high{0, 0, 0};
  Vec3f center() const { return 0.5f * (low + high); }
  float radius() const { return 0.5f * norm(high - low); }
};

class Camera {
 public:
  Vec3f target{0, 0, 0};  // [m]
  float distance = 3;     // [m] from the target to the eye
  float yaw = 0.6f;       // [rad] about +y; at 0 the eye is on the +z side of the target
  float pitch = 0.35f;    // [rad] above the horizon
  float fov = 40;         // vertical field of view [degrees]
  /// Share of the picture's height, from its bottom, that something covers: the view is drawn smaller, in the
  /// middle of the rest. In [0, 1).
  float covered = 0;
  /// Factor of what the picture shows at the same distance: above 1 the view is drawn smaller.
  float widening = 1;

  static Camera look_at(const Vec3f& eye, const Vec3f& target, float fov_degrees);

  Vec3f eye() const;
  /// Half of what the whole height of the picture shows, at a depth of 1.
  float half_height() const;
  /// Unit vectors of the picture plane, and the view direction.
  Vec3f right() const;
  Vec3f up() const;
  Vec3f forward() const;
  /// World to view space: right, up, backward.
  glm::mat4 view() const;
  /// View to Vulkan's clip space (y down) with reversed depth: 1 at the near plane, 0 at infinity.
  glm::mat4 projection(float aspect) const;

  /// Moves by mouse distances in pixels; `height` is the height of the picture in pixels.
  void orbit(float dx, float dy, int height);
  /// About the target, to these angles [rad]; pitch ends short of vertical.
  void turn_to(float new_yaw, float new_pitch);
  /// Keeps the point under the pointer fixed on the screen, at the depth of the target.
  void pan(float dx, float dy, int height);
  /// One notch of the wheel changes the distance by a tenth; positive moves closer.
  void zoom(float notches);
  /// Raises the eye above a ground at this height [m]: by its pitch, or where that is not enough, with the
  /// target.
  void keep_above(float height);
  /// Keeps the direction and moves so that the bounds fill the picture with a small margin.
  void frame(const Bounds& bounds, float aspect);

  /// From the eye through a point of the picture in pixels from its top left corner.
  Ray ray(float x, float y, int width, int height) const;
  /// Pixel position of a point; z is the depth along the view direction [m] (not above 0: behind the eye).
  Vec3f project(const Vec3f& point, int width, int height) const;
};

}  // namespace stickslip
