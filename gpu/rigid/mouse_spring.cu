#include "gpu/rigid/mouse_spring.cuh"

#include <cmath>

#include "gpu/core/launch.h"
#include "gpu/core/trace.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;

/// Inverse effective mass K at a point `arm` from the centre: an impulse p changes the point's velocity by
/// K p [1/kg].
Mat<double, 3> inverse_mass_at(const Vec3d& arm, const Quat& q, double mass, const Vec3d& inertia) {
  Mat<double, 3> k;
  for (int j = 0; j < 3; ++j) {
    Vec3d push{0, 0, 0};
    push[j] = 1;
    Vec3d turn = q.rotate_back(cross(arm, push));
    for (int i = 0; i < 3; ++i) turn[i] /= inertia[i];
    const Vec3d v = push / mass + cross(q.rotate(turn), arm);
    for (int i = 0; i < 3; ++i) k(i, j) = v[i];
  }
  return k;
}

struct HeldBody {
  double mass;
  Vec3d inertia;
  Pose pose;
  Vec3d velocity, spin;
};

/// One host read.
HeldBody read_body(Context& ctx, const DeviceBodies& bodies, std::int32_t body) {
  Buffer<HeldBody> held(ctx, 1);
  HeldBody* out = held.data();
  const double* mass = bodies.mass.data() + body;
  const Vec3d *inertia = bodies.inertia.data() + body, *v = bodies.velocity.data() + body,
              *w = bodies.spin.data() + body;
  const Pose* pose = bodies.pose.data() + body;
  launch(ctx, 1, [=] SS_LAMBDA(std::size_t) { *out = {*mass, *inertia, *pose, *v, *w}; });
  return read_back(ctx, out);
}

}  // namespace

MouseSpring mouse_spring(Context& ctx, const DeviceBodies& bodies, const Model& model, const Params& params,
                         const std::optional<Drag>& drag) {
  const Span span(ctx, "drag");
  MouseSpring spring;
  if (!drag) return spring;
  const auto first = static_cast<std::size_t>(drag->triangle[0]);
  const Object& object = model.objects[static_cast<std::size_t>(model.node_object.at(first))];
  if (!object.is_rigid()) return spring;
  const auto [mass, inertia, pose, v, w] = read_body(ctx, bodies, object.body);
  if (!(mass > 0)) return spring;
  Vec3d arm{0, 0, 0};
  for (int i = 0; i < 3; ++i)
    arm +=
        drag->weights[i] * pose.q.rotate(model.rest_positions[static_cast<std::size_t>(drag->triangle[i])]);
  const double k = params.drag_stiffness, dt = params.dt, soft = dt * dt * k + 2 * dt * std::sqrt(k * mass);
  const Vec3d stretch = drag->target - (pose.x + arm);
  spring.body = object.body;
  Mat<double, 3> effect = soft * inverse_mass_at(arm, pose.q, mass, inertia);
  for (int i = 0; i < 3; ++i) effect(i, i) += 1;
  spring.impulse = inverse(effect) * (dt * k * stretch - soft * (v + cross(w, arm)));
  spring.twist = cross(arm, spring.impulse);
  return spring;
}

}  // namespace stickslip::STICKSLIP_BACKEND
