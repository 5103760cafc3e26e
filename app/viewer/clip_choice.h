// The clipping plane and the x-ray view that the user chose.
#pragma once

#include <cmath>
#include <numbers>

#include "app/render/camera.h"
#include "app/render/frame_view.h"

namespace stickslip {

struct ClipChoice {
  bool on = false;
  float heading = 0;   // [degrees] about +y of the side that is taken away: 0 is +z, 90 is +x
  float tilt = 0;      // [degrees] of that side above the horizon
  float position = 0;  // from the centre towards that side, in radii
  bool x_ray = false;
  float opacity = 0.375f;  // of bodies in the x-ray view
};

/// `bounds`: of the scene, or of the selected object.
inline ClipPlane plane_of(const ClipChoice& choice, const Bounds& bounds) {
  const float degree = std::numbers::pi_v<float> / 180;
  const float heading = degree * choice.heading, tilt = degree * choice.tilt;
  const Vec3f normal{std::cos(tilt) * std::sin(heading), std::sin(tilt), std::cos(tilt) * std::cos(heading)};
  return {normal, dot(normal, bounds.center()) + choice.position * bounds.radius()};
}

/// The part of a ray from where it enters what is drawn.
inline Ray clipped(Ray ray, const ClipPlane& plane) {
  const float towards = dot(plane.normal, ray.direction), over = dot(plane.normal, ray.origin) - plane.offset;
  if (over > 0 && towards < 0) ray.origin += (over / -towards) * ray.direction;
  return ray;
}

}  // namespace stickslip
