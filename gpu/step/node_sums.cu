#include "gpu/step/node_sums.cuh"

#include "gpu/core/launch.h"
#include "gpu/core/reduce.h"

namespace stickslip::STICKSLIP_BACKEND {

void launch_node_sums(Context& ctx, const DeviceModel& device, const Vec3* x, const Vec3* v, double g,
                      NodeSums* out) {
  const Real* mass = device.mass.data();
  const std::uint8_t* scripted = device.scripted.data();
  const std::size_t n = device.node_count;
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        return scripted[i] ? 0.0 : 0.5 * mass[i] * norm2(v[i].template cast<double>());
      },
      &out->kinetic);
  reduce_sum(
      ctx, n, [=] SS_LAMBDA(std::size_t i) { return scripted[i] ? 0.0 : -g * mass[i] * x[i][1]; },
      &out->gravity);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        return scripted[i] ? Vec<double, 3>::zero() : double(mass[i]) * v[i].template cast<double>();
      },
      &out->momentum);
  reduce_sum(
      ctx, n,
      [=] SS_LAMBDA(std::size_t i) {
        return scripted[i]
                   ? Vec<double, 3>::zero()
                   : double(mass[i]) * cross(x[i].template cast<double>(), v[i].template cast<double>());
      },
      &out->angular_momentum);
}

}  // namespace stickslip::STICKSLIP_BACKEND
