// Views of the sun and of the sky's samples, and a frame's uniform data for the shaders.
#pragma once

#include <algorithm>
#include <vector>

#include "app/render/frame_view.h"
#include "app/render/quality.h"
#include "app/render/scene_buffers.h"

namespace stickslip {

/// A parallel projection that contains a sphere.
struct LightView {
  Vec3f direction;    // unit, towards the light
  glm::mat4 clip;     // world to clip space, depth 0..1 away from the light
  glm::mat4 texture;  // world to (u, v, depth), all in units of the sphere's diameter
  float texel = 0;    // [m]
};
LightView fit_light(const Vec3f& direction, const Vec3f& center, float radius, std::uint32_t map_size);

struct LightRig {
  LightView sun;
  std::vector<LightView> sky;
  Vec3f center{0, 0, 0};
  float radius = 1;
};
/// Light views around the bodies, which are in `bounds`, as long as these stay near the scene's start.
LightRig make_light_rig(const SceneBuffers& scene, const Bounds& bounds, const QualitySettings& quality);

/// [px] The unit of screen-constant sizes in a picture of this height.
inline float mark_unit(float height) { return std::clamp(height / 800, 0.7f, 4.f); }
shared::FrameData make_frame_data(const Pane& pane, const SceneBuffers& scene, const LightRig& rig);
/// The rectangle that represents a half-space.
shared::PlanePush make_plane_push(const PlaneShape& plane, const shared::FrameData& frame);

/// Number of tiles in a row of the sky's map.
int sky_tiles_per_row(int sky_views);

}  // namespace stickslip
