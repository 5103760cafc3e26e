#include "gpu/elastic/rigid_prediction.cuh"

#include "gpu/math/quat.h"
#include "gpu/math/spd.h"

namespace stickslip::STICKSLIP_BACKEND {
namespace {

using Vec3d = Vec<double, 3>;
using Mat3d = Mat<double, 3>;

/// The rigid motion with the momenta of the nodes.
SS_HD RigidStep rigid_step(const MotionSums& sums, double dt) {
  RigidStep step;
  if (!(sums.mass > 0) || (sums.held > 0 && sums.held < sums.nodes)) return step;
  const Vec3d c = (1 / sums.mass) * sums.first;
  const Vec<double, 6>& s = sums.second;
  const double m = sums.mass, xx = s[0] - m * c[0] * c[0], yy = s[1] - m * c[1] * c[1],
               zz = s[2] - m * c[2] * c[2], xy = s[3] - m * c[0] * c[1], xz = s[4] - m * c[0] * c[2],
               yz = s[5] - m * c[1] * c[2];
  const Mat3d inertia{{yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy}};
  step.centre = c;
  step.shift = (dt / m) * sums.momentum;
  const Ldl<double, 3> factors = factor_ldl(inertia);
  if (factors.positive) {
    const Vec3d spin = solve(factors, sums.angular - cross(c, sums.momentum));
    step.turn = rotation_by(dt * spin).matrix();
  }
  return step;
}

void find_steps(Context& ctx, std::size_t objects, const MotionSums* sums, double dt, RigidStep* step) {
  launch(ctx, objects, [=] SS_LAMBDA(std::size_t o) { step[o] = rigid_step(sums[o], dt); });
}

/// Of one node.
struct NodeSums {
  const Vec3 *x, *v;
  const Real* mass;
  const std::uint8_t* held;

  SS_HD MotionSums operator()(std::int32_t i) const {
    MotionSums sums;
    sums.held = held[i] ? 1.0 : 0.0;
    sums.nodes = 1;
    sums.mass = mass[i];
    const Vec3d p = x[i].template cast<double>();
    sums.first = sums.mass * p;
    sums.momentum = sums.mass * v[i].template cast<double>();
    sums.angular = cross(p, sums.momentum);
    sums.second = sums.mass * Vec<double, 6>{p[0] * p[0], p[1] * p[1], p[2] * p[2],
                                             p[0] * p[1], p[0] * p[2], p[1] * p[2]};
    return sums;
  }
};

void move(Context& ctx, std::size_t n, const std::int32_t* object, const RigidStep* step, double dt,
          const Vec3* x, Vec3* ahead, Vec3* speed) {
  launch(ctx, n, [=] SS_LAMBDA(std::size_t i) {
    const Vec3d from = x[i].template cast<double>(), to = step[object[i]](from);
    ahead[i] = to.cast<Real>();
    speed[i] = ((1 / dt) * (to - from)).template cast<Real>();
  });
}

}  // namespace

void RigidPrediction::load(Context& ctx, const DeviceModel& device) {
  sums_.load(ctx, device.node_object);
  of_object_.resize(ctx, sums_.objects());
  step_.resize(ctx, sums_.objects());
}

void RigidPrediction::predict(Context& ctx, const DeviceModel& device, const Vec3* x, const Vec3* v,
                              double dt, Vec3* ahead, Vec3* speed) {
  sums_.sum(ctx, NodeSums{x, v, device.mass.data(), device.scripted.data()}, partial_, of_object_.data());
  find_steps(ctx, sums_.objects(), of_object_.data(), dt, step_.data());
  move(ctx, device.node_count, device.node_object.data(), step_.data(), dt, x, ahead, speed);
}

}  // namespace stickslip::STICKSLIP_BACKEND
