#include "app/render/light_view.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stickslip {
namespace {

const Vec3f kSunDirection = normalized(Vec3f{-0.55f, 1.0f, 0.5f});

glm::vec4 to_glm(const Vec3f& v, float w) { return {v[0], v[1], v[2], w}; }

/// The i-th of n directions spread evenly over the dome, from 10 degrees above the horizon up.
Vec3f dome_direction(int i, int n) {
  const float low = std::sin(10 * std::numbers::pi_v<float> / 180);
  const float y = low + (1 - low) * (static_cast<float>(i) + 0.5f) / static_cast<float>(n);
  const float angle = static_cast<float>(i) * 2.39996323f;
  const float across = std::sqrt(1 - y * y);
  return {across * std::cos(angle), y, across * std::sin(angle)};
}

/// Rows x, y, z as an affine map of (p, 1).
glm::mat4 from_rows(const glm::vec4& x, const glm::vec4& y, const glm::vec4& z) {
  glm::mat4 m(0);
  for (int c = 0; c < 4; ++c) m[c] = {x[c], y[c], z[c], 0};
  m[3][3] = 1;
  return m;
}

}  // namespace

LightView fit_light(const Vec3f& direction, const Vec3f& center, float radius, std::uint32_t map_size) {
  // A margin of two texels stays empty, so that the map's border is always lit.
  const auto size = static_cast<float>(map_size);
  const float half = radius * size / (size - 4);
  const Vec3f across = std::abs(direction[1]) < 0.95f ? Vec3f{0, 1, 0} : Vec3f{0, 0, 1};
  const Vec3f x = normalized(cross(across, direction)), y = cross(direction, x);
  LightView view;
  view.direction = direction;
  view.texel = 2 * half / size;
  // Snaps to whole texels, so that shadows do not shimmer when the scene's centre moves.
  const auto snapped = [&](const Vec3f& axis) {
    return std::round(dot(axis, center) / view.texel) * view.texel;
  };
  const float cx = snapped(x), cy = snapped(y), cz = dot(direction, center);
  view.clip = from_rows(to_glm(x / half, -cx / half), to_glm(y / half, -cy / half),
                        to_glm(direction * (-0.5f / half), 0.5f + 0.5f * cz / half));
  view.texture = from_rows(to_glm(x * (0.5f / half), 0.5f - 0.5f * cx / half),
                           to_glm(y * (0.5f / half), 0.5f - 0.5f * cy / half),
                           to_glm(direction * (-0.5f / half), 0.5f + 0.5f * cz / half));
  return view;
}

LightRig make_light_rig(const SceneBuffers& scene, const Bounds& bounds, const QualitySettings& quality) {
  LightRig rig;
  const Bounds& start = scene.start_bounds();
  const float reach = 4 * std::max(start.radius(), 1e-6f);
  const Vec3f low = start.center() - Vec3f::filled(reach), high = start.center() + Vec3f::filled(reach);
  const Bounds now{max(bounds.low, low), min(bounds.high, high)};
  rig.center = now.center();
  // The radius changes in steps, so that the resolution of the maps does not flicker.
  constexpr float kSteps = 6;
  rig.radius = std::exp2(std::ceil(std::log2(std::max(now.radius(), 1e-6f) * 1.01f) * kSteps) / kSteps);
  rig.sun = fit_light(kSunDirection, rig.center, rig.radius, quality.sun_map_size);
  for (int i = 0; i < quality.sky_views; ++i)
    rig.sky.push_back(
        fit_light(dome_direction(i, quality.sky_views), rig.center, rig.radius, quality.sky_tile_size));
  return rig;
}

int sky_tiles_per_row(int sky_views) {
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<float>(sky_views)))));
}

shared::FrameData make_frame_data(const Pane& pane, const SceneBuffers& scene, const LightRig& rig) {
  const FrameView& view = pane.view;
  const Camera& camera = view.camera;
  const auto width = static_cast<float>(pane.width), height = static_cast<float>(pane.height);
  const float half_height = camera.half_height();
  const float scene_radius = std::max(scene.start_bounds().radius(), 1e-6f);
  const float cell = std::pow(10.f, std::floor(std::log10(scene_radius) - 0.3f));

  shared::FrameData data{};
  data.view_projection = camera.projection(width / height) * camera.view();
  data.eye = to_glm(camera.eye(), 2 * half_height / height);
  data.forward = to_glm(camera.forward(), camera.covered);
  data.viewport = {width, height, mark_unit(height), half_height};
  data.corner = {pane.x, pane.y, 1 / width, 1 / height};
  data.scene = to_glm(rig.center, rig.radius);
  data.grid = {cell, std::max(14 * scene_radius, 6 * camera.distance), scene.ground_height().value_or(0),
               scene.ground_height() ? 1 : 0};
  data.sun_direction = to_glm(rig.sun.direction, rig.sun.texel);
  data.sun_matrix = rig.sun.texture;
  if (view.clip) data.clip = to_glm(view.clip->normal, view.clip->offset);
  data.x_ray = {view.x_ray, 0, 0, 0};
  const auto views = static_cast<int>(rig.sky.size());
  data.sky_layout = {sky_tiles_per_row(views), view.heat.empty() ? 0 : 1,
                     rig.sky.empty() ? 0 : rig.sky[0].texel, view.patterns ? 1 : 0};
  for (int i = 0; i < views; ++i) {
    const LightView& sky = rig.sky[static_cast<std::size_t>(i)];
    data.sky_matrix[i] = sky.texture;
    data.sky_direction[i] = to_glm(sky.direction, 1.5f * sky.texel / (2 * rig.radius));
  }
  return data;
}

shared::PlanePush make_plane_push(const PlaneShape& plane, const shared::FrameData& frame) {
  const float half = plane.ground ? 1.1f * frame.grid.y : 1.8f * frame.scene.w;
  // The grid lines of the ground lie at whole metres of world x and z.
  const float along = plane.ground ? plane.point[0] : 0, across = plane.ground ? plane.point[2] : 0;
  return {to_glm(plane.point, along), to_glm(half * plane.u, across),
          to_glm(half * plane.v, plane.ground ? 1 : 0)};
}

}  // namespace stickslip
