#include "app/io/ipc/ipc_camera.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stickslip {
namespace {

using Vec3d = Vec<double, 3>;

/// Region to show: the solids, and everything else within one size of the solids.
IpcBounds region(const IpcScript& script, const IpcLayout& layout, const std::vector<Vec3d>& nodes) {
  IpcBounds solids;
  for (const IpcBody& body : layout.bodies)
    if (body.kind == IpcKind::solid)
      for (int i = body.begin; i < body.end; ++i) solids.include(nodes[i]);
  const Vec3d reach = Vec3d::filled(0.8 * norm(solids.size()));
  const Vec3d low = solids.low - reach, high = solids.high + reach;
  IpcBounds box = solids;
  const auto include_near = [&](const Vec3d& p) { box.include(min(max(p, low), high)); };
  for (const IpcBody& body : layout.bodies)
    if (body.kind != IpcKind::solid)
      for (int i = body.begin; i < body.end; ++i) include_near(nodes[i]);
  for (const Vec3d& p : layout.mesh_nodes) include_near(p);
  for (const IpcHalfSpace& plane : script.half_spaces) {
    // Projection of the solids' center onto the plane.
    const Vec3d n = normalized(plane.normal);
    include_near(solids.center() - dot(solids.center() - plane.origin, n) * n);
  }
  return box;
}

}  // namespace

CameraStart ipc_camera(const IpcScript& script, const IpcLayout& layout, const std::vector<Vec3d>& nodes) {
  const IpcBounds box = region(script, layout, nodes);
  CameraStart camera;
  camera.fov = script.orthographic ? 12 : 35;
  camera.target = box.center();
  const double radians = std::numbers::pi / 180;
  const double pitch = (script.orthographic ? 12 : 20) * radians, yaw = 25 * radians;
  const Vec3d back{std::sin(yaw) * std::cos(pitch), std::sin(pitch), std::cos(yaw) * std::cos(pitch)};
  const Vec3d right = normalized(cross({0, 1, 0}, back)), up = cross(back, right);
  const double tangent = std::tan(0.5 * camera.fov * radians), aspect = 16.0 / 9;
  double distance = 0;
  for (int corner = 0; corner < 8; ++corner) {
    Vec3d p{};
    for (int c = 0; c < 3; ++c) p[c] = ((corner >> c) & 1 ? box.high : box.low)[c] - camera.target[c];
    const double across = std::max(std::abs(dot(p, up)), std::abs(dot(p, right)) / aspect);
    distance = std::max(distance, dot(p, back) + across / tangent);
  }
  constexpr double margin = 1.15;
  camera.position = camera.target + std::max(margin * distance, 1e-6) * back;
  return camera;
}

}  // namespace stickslip
