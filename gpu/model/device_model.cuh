// DeviceModel: a Model in backend memory, in Real. DeviceState: what moves.
#pragma once

#include "gpu/core/buffer.h"
#include "gpu/math/mat.h"
#include "gpu/model/model.h"
#include "gpu/model/plane.h"

namespace stickslip {

/// x = linear * X + shift: a scripted motion at one instant.
struct RigidPose {
  Mat3 linear;
  Vec3 shift;
};

}  // namespace stickslip

namespace stickslip::STICKSLIP_BACKEND {

struct DeviceModel {
  std::size_t node_count = 0;
  Real diagonal = 1;   // [m] of the bounding box of all solids at the start
  Real mean_mass = 1;  // [kg] per free node
  Buffer<Vec3> rest;   // stress-free positions
  Buffer<Vec3> start;  // positions at t = 0
  Buffer<Vec4i> tets;
  Buffer<Vec3i> triangles;
  Buffer<Vec2i> edges;
  Buffer<std::int32_t> surface_nodes;
  Buffer<std::int32_t> node_object;
  Buffer<std::int32_t> node_script;  // index into Model::scripted, -1 when free
  Buffer<std::uint8_t> scripted;     // 1 where node_script >= 0
  Buffer<Real> mass;  // [kg]; a collider's nodes carry the mean mass, which only scales penalties
  Buffer<Real> mu;    // per node
  Buffer<Plane> planes;

  void upload(Context& ctx, const Model& model);
  /// Masses, friction coefficients and planes again, after materials or half-spaces changed.
  void upload_materials(Context& ctx, const Model& model);
};

struct DeviceState {
  int frame = 0;
  double time = 0;  // [s]
  Buffer<Vec3> x;   // [m]
  Buffer<Vec3> v;   // [m/s]
};

/// The pose of every script of `model` at `time`.
std::vector<RigidPose> script_poses(const Model& model, double time);

}  // namespace stickslip::STICKSLIP_BACKEND
